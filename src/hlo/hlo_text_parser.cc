#include "src/hlo/hlo_text_parser.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "src/hlo/hlo_printer.h"
#include "src/hlo/message.h"
#include "src/hlo/text_attributes.h"
#include "src/hlo/text_cursor.h"
#include "src/hlo/text_values.h"
#include "src/wire/wire_writer.h"

namespace strobe::hlo {
namespace {

using wire::AppendBytesField;
using wire::AppendSignedField;

struct TextInstruction {
  std::string_view name;
  std::string opcode;
  std::string shape;   // ShapeProto
  std::string record;  // fields but name, opcode, shape and ids
  int64_t id = 0;
  int64_t parameter = -1;
  std::vector<TextName> operands;
  std::vector<TextName> controls;
  std::vector<TextName> calls;
  // Of an async-start that stands for its one instruction: that one.
  std::string wrapped_opcode;
  std::string wrapped_record;
  std::vector<TextName> wrapped_calls;
};

struct Sugar {
  std::string_view opcode;   // async-start, -update or -done
  std::string_view wrapped;  // the rest of the word
};

// "custom-call-start" and the like, when no opcode of its own has that name.
std::optional<Sugar> SugarOf(std::string_view word) {
  if (OpcodeOf(word) != Opcode::kUnknown) return std::nullopt;
  constexpr std::pair<std::string_view, std::string_view> kEnds[] = {
      {"-start", "async-start"}, {"-update", "async-update"}, {"-done", "async-done"}};
  for (const auto& [end, opcode] : kEnds) {
    if (!word.ends_with(end)) continue;
    const std::string_view wrapped = word.substr(0, word.size() - end.size());
    if (OpcodeOf(wrapped) != Opcode::kUnknown) return Sugar{opcode, wrapped};
  }
  return std::nullopt;
}

class TextParser {
 public:
  TextParser(std::string_view text, const TextLimits& limits)
      : at_(text), limits_(limits), size_bytes_(text.size()) {}

  Result<HloText> Parse();

 private:
  Status ReadHeader();
  Status ReadHeaderAttribute(std::string_view key, const TextCursor& begin);
  Status ReadEntryLayout();
  Status ReadAliases();
  Status ReadDonors();
  Status ReadFrameTables();
  Status ReadNameTable(uint32_t field);
  Status ReadRecordTable(uint32_t field);
  Status ReadComputation();
  Status ReadSignature();
  Status ReadInstruction(bool* root);
  Status ReadOperands(TextInstruction* instruction);
  Status ReadAttributes(const std::optional<Sugar>& sugar, TextInstruction* instruction);
  Status FinishComputation(std::string_view name, bool entry, std::optional<size_t> root,
                           const TextCursor& place);
  Status AppendInstructionMessage(const TextInstruction& instruction, std::string* computation);
  void AppendWrappedComputation(const TextInstruction& instruction, int64_t id);
  Result<int64_t> IdOfOperand(const TextName& name) const;
  int64_t IdOfComputation(const TextName& name);
  void AppendProgramShape(size_t root, std::string* computation) const;
  std::vector<size_t> MessageOrder() const;
  std::string Schedule() const;

  TextCursor at_;
  const TextLimits limits_;
  const size_t size_bytes_;
  std::string module_;        // fields in front of the computations
  std::string computations_;  // fields 3
  std::string header_text_;
  bool is_scheduled_ = false;
  std::string frames_;
  int64_t entry_id_ = 0;
  std::string entry_name_;
  int64_t last_id_ = 0;
  std::string last_name_;
  int64_t next_instruction_id_ = 1;
  int64_t next_computation_id_ = 1;
  uint32_t computation_count_ = 0;

  std::vector<TextInstruction> instructions_;  // of the computation being read
  std::unordered_map<std::string_view, size_t> by_name_;
  struct Known {
    int64_t id = 0;
    size_t place = 0;  // in the text, from 1; 0: not seen yet
    bool defined = false;
    std::optional<TextCursor> first_use;
  };
  std::unordered_map<std::string_view, Known> computation_ids_;
  std::vector<std::pair<int64_t, std::vector<int64_t>>> schedules_;
  std::set<std::string_view> unknown_;
};

Result<HloText> TextParser::Parse() {
  if (size_bytes_ > limits_.max_text_bytes) {
    return ResourceExhaustedError(
               "HLO_TEXT_LIMIT",
               "The text is larger than " + std::to_string(limits_.max_text_bytes) + " bytes.")
        .Hint("Raise TextLimits::max_text_bytes if the text is a real one.");
  }
  at_.SkipBlank();
  if (at_.AtEnd()) {
    return NotFoundError("HLO_TEXT_EMPTY", "Expected HLO text, found nothing.")
        .Hint("Give a *.txt of a compiler dump.");
  }
  STROBE_RETURN_IF_ERROR(ReadHeader());
  STROBE_RETURN_IF_ERROR(ReadFrameTables());
  for (at_.SkipBlank(); !at_.AtEnd(); at_.SkipBlank()) {
    STROBE_RETURN_IF_ERROR(ReadComputation());
  }
  if (computation_count_ == 0) return at_.Expected("a computation");
  for (const auto& [name, known] : computation_ids_) {
    if (known.defined) continue;
    return known.first_use->Error("HLO_TEXT_UNKNOWN_NAME", "Expected a computation named " +
                                                               std::string(name) + " in the text.");
  }
  HloText result;
  std::string module = std::move(module_);
  if (entry_id_ == 0) {
    entry_id_ = last_id_;
    entry_name_ = last_name_;
  }
  AppendBytesField(2, entry_name_, &module);
  module += computations_;
  AppendSignedField(6, entry_id_, &module);
  if (is_scheduled_) AppendBytesField(7, Schedule(), &module);
  if (!frames_.empty()) AppendBytesField(17, frames_, &module);
  if (!header_text_.empty()) AppendBytesField(kHeaderTextField, header_text_, &module);
  AppendBytesField(1, module, &result.hlo_proto);
  for (const std::string_view name : unknown_) result.unknown_attributes.emplace_back(name);
  return result;
}

Status TextParser::ReadHeader() {
  STROBE_RETURN_IF_ERROR(at_.Expect("HloModule"));
  at_.SkipBlank();
  const std::string_view rest = at_.rest();
  const size_t size = std::min(rest.find_first_of(",\n"), rest.size());
  std::string_view name = rest.substr(0, size);
  while (name.ends_with(' ') || name.ends_with('\r')) name.remove_suffix(1);
  if (name.empty()) return at_.Expected("the module's name");
  AppendBytesField(1, name, &module_);
  at_.Skip(size);
  while (at_.Peek() == ',') {
    at_.Skip(1);
    at_.SkipBlank();
    const TextCursor begin = at_;
    STROBE_ASSIGN_OR_RETURN(const std::string_view key, at_.Name());
    STROBE_RETURN_IF_ERROR(at_.Expect("="));
    STROBE_RETURN_IF_ERROR(ReadHeaderAttribute(key, begin));
  }
  return OkStatus();
}

Status TextParser::ReadHeaderAttribute(std::string_view key, const TextCursor& begin) {
  if (key == "is_scheduled") {
    STROBE_ASSIGN_OR_RETURN(const std::string_view word, at_.Name());
    is_scheduled_ = word == "true";
    return OkStatus();
  }
  if (key == "entry_computation_layout") return ReadEntryLayout();
  if (key == "input_output_alias") return ReadAliases();
  if (key == "buffer_donor") return ReadDonors();
  if (key == "frontend_attributes") {
    std::string attributes;
    STROBE_RETURN_IF_ERROR(ReadFrontendAttributes(&at_, &attributes));
    AppendBytesField(19, attributes, &module_);
    return OkStatus();
  }
  // Kept as it is written: these have no place of their own in what is shown.
  STROBE_ASSIGN_OR_RETURN(const std::string_view value, at_.Value());
  if (value.empty()) return at_.Expected("a value");
  const auto size = static_cast<size_t>(at_.rest().data() - begin.rest().data());
  header_text_.append(", ").append(begin.rest().substr(0, size));
  return OkStatus();
}

Status TextParser::ReadEntryLayout() {
  std::string shapes;
  STROBE_RETURN_IF_ERROR(at_.Expect("{"));
  STROBE_RETURN_IF_ERROR(at_.Expect("("));
  for (bool first = true; !at_.Take(")"); first = false) {
    if (!first) STROBE_RETURN_IF_ERROR(at_.Expect(","));
    std::string shape;
    STROBE_RETURN_IF_ERROR(ReadShapeText(&at_, limits_.max_depth, &shape));
    AppendBytesField(1, shape, &shapes);
  }
  STROBE_RETURN_IF_ERROR(at_.Expect("->"));
  std::string result;
  STROBE_RETURN_IF_ERROR(ReadShapeText(&at_, limits_.max_depth, &result));
  AppendBytesField(2, result, &shapes);
  AppendBytesField(4, shapes, &module_);
  return at_.Expect("}");
}

Status TextParser::ReadAliases() {
  std::string aliases;
  STROBE_RETURN_IF_ERROR(at_.Expect("{"));
  for (bool first = true; !at_.Take("}"); first = false) {
    if (!first) STROBE_RETURN_IF_ERROR(at_.Expect(","));
    STROBE_ASSIGN_OR_RETURN(const std::vector<int64_t> output, at_.IntegerList('{', '}'));
    STROBE_RETURN_IF_ERROR(at_.Expect(":"));
    STROBE_RETURN_IF_ERROR(at_.Expect("("));
    STROBE_ASSIGN_OR_RETURN(const int64_t parameter, at_.Integer());
    STROBE_RETURN_IF_ERROR(at_.Expect(","));
    STROBE_ASSIGN_OR_RETURN(const std::vector<int64_t> index, at_.IntegerList('{', '}'));
    bool must = false;
    if (at_.Take(",")) {
      must = at_.Sees("must-alias");
      if (!at_.Take("must-alias")) STROBE_RETURN_IF_ERROR(at_.Expect("may-alias"));
    }
    STROBE_RETURN_IF_ERROR(at_.Expect(")"));
    std::string entry;
    AppendPackedField(1, output, &entry);
    AppendSignedField(2, parameter, &entry);
    AppendPackedField(3, index, &entry);
    AppendSignedField(4, must ? 2 : 1, &entry);
    AppendBytesField(1, entry, &aliases);
  }
  AppendBytesField(8, aliases, &module_);
  return OkStatus();
}

Status TextParser::ReadDonors() {
  std::string donors;
  STROBE_RETURN_IF_ERROR(at_.Expect("{"));
  for (bool first = true; !at_.Take("}"); first = false) {
    if (!first) STROBE_RETURN_IF_ERROR(at_.Expect(","));
    STROBE_RETURN_IF_ERROR(at_.Expect("("));
    STROBE_ASSIGN_OR_RETURN(const int64_t parameter, at_.Integer());
    STROBE_RETURN_IF_ERROR(at_.Expect(","));
    STROBE_ASSIGN_OR_RETURN(const std::vector<int64_t> index, at_.IntegerList('{', '}'));
    STROBE_RETURN_IF_ERROR(at_.Expect(")"));
    std::string entry;
    AppendSignedField(1, parameter, &entry);
    AppendPackedField(2, index, &entry);
    AppendBytesField(1, entry, &donors);
  }
  AppendBytesField(18, donors, &module_);
  return OkStatus();
}

Status TextParser::ReadNameTable(uint32_t field) {
  for (at_.SkipBlank(); at_.Peek() >= '0' && at_.Peek() <= '9'; at_.SkipBlank()) {
    STROBE_ASSIGN_OR_RETURN(const int64_t number, at_.Integer());
    if (number <= 0) return at_.Expected("a number of the table");
    STROBE_ASSIGN_OR_RETURN(const std::string name, at_.QuotedText());
    AppendBytesField(field, name, &frames_);
  }
  return OkStatus();
}

// Lines like "3 {file_name_id=1 line=12}".
Status TextParser::ReadRecordTable(uint32_t field) {
  struct Key {
    std::string_view name;
    uint32_t number;
  };
  constexpr Key kKeys[] = {{"file_name_id", 1},     {"function_name_id", 2}, {"line", 3},
                           {"column", 4},           {"end_line", 5},         {"end_column", 6},
                           {"file_location_id", 1}, {"parent_frame_id", 2}};
  for (at_.SkipBlank(); at_.Peek() >= '0' && at_.Peek() <= '9'; at_.SkipBlank()) {
    STROBE_ASSIGN_OR_RETURN(const int64_t number, at_.Integer());
    if (number <= 0) return at_.Expected("a number of the table");
    STROBE_RETURN_IF_ERROR(at_.Expect("{"));
    std::string record;
    while (!at_.Take("}")) {
      STROBE_ASSIGN_OR_RETURN(const std::string_view name, at_.Name());
      STROBE_RETURN_IF_ERROR(at_.Expect("="));
      STROBE_ASSIGN_OR_RETURN(int64_t value, at_.Integer());
      const auto key = std::ranges::find(kKeys, name, &Key::name);
      if (key == std::end(kKeys)) continue;
      // The text counts parents from 1 where the bytes say 0 for none.
      if (name == "parent_frame_id") --value;
      AppendSignedField(key->number, value, &record);
    }
    AppendBytesField(field, record, &frames_);
  }
  return OkStatus();
}

Status TextParser::ReadFrameTables() {
  while (true) {
    // A computation may have one of these names, but then a bracket follows.
    TextCursor ahead = at_;
    const Result<std::string_view> title = ahead.Name();
    if (!title.ok() || ahead.Sees("{") || ahead.Sees("(")) return OkStatus();
    if (*title == "FileNames") {
      at_ = ahead;
      STROBE_RETURN_IF_ERROR(ReadNameTable(1));
    } else if (*title == "FunctionNames") {
      at_ = ahead;
      STROBE_RETURN_IF_ERROR(ReadNameTable(2));
    } else if (*title == "FileLocations") {
      at_ = ahead;
      STROBE_RETURN_IF_ERROR(ReadRecordTable(3));
    } else if (*title == "StackFrames") {
      at_ = ahead;
      STROBE_RETURN_IF_ERROR(ReadRecordTable(4));
    } else {
      return OkStatus();
    }
  }
}

Status TextParser::ReadSignature() {
  if (!at_.Sees("(")) return OkStatus();
  STROBE_ASSIGN_OR_RETURN(const std::string_view parameters, at_.Bracketed());
  if (parameters.empty()) return at_.Expected("parameters");
  STROBE_RETURN_IF_ERROR(at_.Expect("->"));
  std::string result;
  return ReadShapeText(&at_, limits_.max_depth, &result);
}

Status TextParser::ReadComputation() {
  if (++computation_count_ > limits_.max_computations) {
    return at_.Error("HLO_TEXT_LIMIT", "The text has too many computations.");
  }
  const bool entry = at_.Take("ENTRY ");
  at_.SkipBlank();
  const TextCursor place = at_;
  STROBE_ASSIGN_OR_RETURN(const std::string_view name, at_.Name());
  STROBE_RETURN_IF_ERROR(ReadSignature());
  STROBE_RETURN_IF_ERROR(at_.Expect("{"));
  instructions_.clear();
  by_name_.clear();
  std::optional<size_t> root;
  while (!at_.Take("}")) {
    bool is_root = false;
    STROBE_RETURN_IF_ERROR(ReadInstruction(&is_root));
    if (is_root) root = instructions_.size() - 1;
  }
  return FinishComputation(name, entry, root, place);
}

Status TextParser::ReadInstruction(bool* root) {
  if (next_instruction_id_ > static_cast<int64_t>(limits_.max_instructions)) {
    return at_.Error("HLO_TEXT_LIMIT", "The text has too many instructions.");
  }
  *root = at_.Take("ROOT ");
  at_.SkipBlank();
  const TextCursor place = at_;
  TextInstruction instruction;
  STROBE_ASSIGN_OR_RETURN(instruction.name, at_.Name());
  instruction.id = next_instruction_id_++;
  STROBE_RETURN_IF_ERROR(at_.Expect("="));
  STROBE_RETURN_IF_ERROR(ReadShapeText(&at_, limits_.max_depth, &instruction.shape));
  STROBE_ASSIGN_OR_RETURN(const std::string_view word, at_.Name());
  const std::optional<Sugar> sugar = SugarOf(word);
  instruction.opcode = sugar ? sugar->opcode : word;
  STROBE_RETURN_IF_ERROR(ReadOperands(&instruction));
  STROBE_RETURN_IF_ERROR(ReadAttributes(sugar, &instruction));
  if (!by_name_.try_emplace(instruction.name, instructions_.size()).second) {
    return place.Error("HLO_TEXT_DUPLICATE", "Expected each name once in a computation; " +
                                                 std::string(instruction.name) +
                                                 " is there already.");
  }
  instructions_.push_back(std::move(instruction));
  return OkStatus();
}

Status TextParser::ReadOperands(TextInstruction* instruction) {
  if (!at_.Sees("(")) return at_.Expected("\"(\" and operands");
  STROBE_ASSIGN_OR_RETURN(const std::string_view part, at_.Bracketed());
  const std::string_view inner = part.substr(1, part.size() - 2);
  TextCursor cursor = at_.Within(inner);
  if (instruction->opcode == "constant") {
    std::string literal;
    if (ReadLiteralText(inner, instruction->shape, &literal)) {
      AppendBytesField(8, literal, &instruction->record);
    } else {
      AppendBytesField(kLiteralTextField, inner, &instruction->record);
    }
    return OkStatus();
  }
  if (instruction->opcode == "parameter") {
    STROBE_ASSIGN_OR_RETURN(instruction->parameter, cursor.Integer());
    AppendSignedField(9, instruction->parameter, &instruction->record);
    return OkStatus();
  }
  for (cursor.SkipBlank(); !cursor.AtEnd(); cursor.SkipBlank()) {
    if (!instruction->operands.empty()) STROBE_RETURN_IF_ERROR(cursor.Expect(","));
    if (SeesShape(cursor)) {
      std::string shape;
      STROBE_RETURN_IF_ERROR(ReadShapeText(&cursor, limits_.max_depth, &shape));
    }
    cursor.SkipBlank();
    const TextCursor place = cursor;
    STROBE_ASSIGN_OR_RETURN(const std::string_view name, cursor.Name());
    instruction->operands.push_back({name, place});
  }
  return OkStatus();
}

Status TextParser::ReadAttributes(const std::optional<Sugar>& sugar, TextInstruction* instruction) {
  const bool wrapped = sugar && sugar->opcode == "async-start";
  const Opcode opcode = OpcodeOf(wrapped ? sugar->wrapped : std::string_view(instruction->opcode));
  AttributeReader reader(opcode, wrapped, limits_.max_depth);
  STROBE_RETURN_IF_ERROR(reader.Read(&at_));
  instruction->record += reader.TakeRecord();
  instruction->calls = std::move(reader.calls);
  instruction->controls = std::move(reader.controls);
  if (wrapped) {
    instruction->wrapped_opcode = sugar->wrapped;
    instruction->wrapped_record = reader.TakeWrappedRecord();
    instruction->wrapped_calls = std::move(reader.wrapped_calls);
  }
  for (const std::string_view name : reader.unknown) {
    if (unknown_.size() < HloText::kMaxUnknownAttributes) unknown_.insert(name);
  }
  return OkStatus();
}

Result<int64_t> TextParser::IdOfOperand(const TextName& name) const {
  const auto found = by_name_.find(name.name);
  if (found != by_name_.end()) return instructions_[found->second].id;
  return name.place.Error("HLO_TEXT_UNKNOWN_NAME",
                          "Expected an instruction of this computation; "
                          "there is none named " +
                              std::string(name.name) + ".");
}

int64_t TextParser::IdOfComputation(const TextName& name) {
  Known& known = computation_ids_[name.name];
  if (known.id == 0) known.id = next_computation_id_++;
  if (!known.first_use) known.first_use = name.place;
  return known.id;
}

Status TextParser::AppendInstructionMessage(const TextInstruction& instruction,
                                            std::string* computation) {
  std::string message;
  AppendBytesField(1, instruction.name, &message);
  AppendBytesField(2, instruction.opcode, &message);
  AppendBytesField(3, instruction.shape, &message);
  message += instruction.record;
  AppendSignedField(35, instruction.id, &message);
  std::vector<int64_t> ids;
  for (const TextName& operand : instruction.operands) {
    STROBE_ASSIGN_OR_RETURN(const int64_t id, IdOfOperand(operand));
    ids.push_back(id);
  }
  AppendPackedField(36, ids, &message);
  ids.clear();
  for (const TextName& control : instruction.controls) {
    STROBE_ASSIGN_OR_RETURN(const int64_t id, IdOfOperand(control));
    ids.push_back(id);
  }
  AppendPackedField(37, ids, &message);
  ids.clear();
  if (!instruction.wrapped_opcode.empty()) {
    ids.push_back(next_computation_id_++);
    AppendWrappedComputation(instruction, ids.front());
  }
  for (const TextName& call : instruction.calls) ids.push_back(IdOfComputation(call));
  AppendPackedField(38, ids, &message);
  AppendBytesField(2, message, computation);
  return OkStatus();
}

// The computation around the one instruction that an async-start stands for.
void TextParser::AppendWrappedComputation(const TextInstruction& instruction, int64_t id) {
  std::string computation;
  AppendBytesField(1, "async_computation." + std::to_string(id), &computation);
  std::vector<int64_t> parameters;
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    const auto found = by_name_.find(instruction.operands[i].name);
    std::string message;
    AppendBytesField(1, "param_" + std::to_string(i) + "." + std::to_string(id), &message);
    AppendBytesField(2, "parameter", &message);
    if (found != by_name_.end()) AppendBytesField(3, instructions_[found->second].shape, &message);
    AppendSignedField(9, static_cast<int64_t>(i), &message);
    AppendSignedField(35, next_instruction_id_, &message);
    parameters.push_back(next_instruction_id_++);
    AppendBytesField(2, message, &computation);
  }
  std::string message;
  AppendBytesField(1, "wrapped." + std::to_string(id), &message);
  AppendBytesField(2, instruction.wrapped_opcode, &message);
  // The shape of an async-start is (operands, result, ...).
  const std::vector<std::string_view> parts = Message(instruction.shape).All(4);
  if (parts.size() > 1) AppendBytesField(3, parts[1], &message);
  message += instruction.wrapped_record;
  AppendSignedField(35, next_instruction_id_, &message);
  AppendPackedField(36, parameters, &message);
  std::vector<int64_t> calls;
  for (const TextName& call : instruction.wrapped_calls) calls.push_back(IdOfComputation(call));
  AppendPackedField(38, calls, &message);
  AppendBytesField(2, message, &computation);
  AppendSignedField(5, id, &computation);
  AppendSignedField(6, next_instruction_id_++, &computation);
  AppendBytesField(3, computation, &computations_);
}

void TextParser::AppendProgramShape(size_t root, std::string* computation) const {
  std::vector<const TextInstruction*> parameters;
  for (const TextInstruction& instruction : instructions_) {
    if (instruction.parameter >= 0) parameters.push_back(&instruction);
  }
  std::ranges::stable_sort(parameters, {}, &TextInstruction::parameter);
  std::string shapes;
  for (const TextInstruction* parameter : parameters) {
    AppendBytesField(1, parameter->shape, &shapes);
  }
  AppendBytesField(2, instructions_[root].shape, &shapes);
  for (const TextInstruction* parameter : parameters) {
    AppendBytesField(3, parameter->name, &shapes);
  }
  AppendBytesField(4, shapes, computation);
}

Status TextParser::FinishComputation(std::string_view name, bool entry, std::optional<size_t> root,
                                     const TextCursor& place) {
  if (instructions_.empty()) return at_.Expected("an instruction in the computation");
  if (!root) root = instructions_.size() - 1;
  Known& known = computation_ids_[name];
  if (known.defined) {
    return place.Error("HLO_TEXT_DUPLICATE", "Expected each computation once; " +
                                                 std::string(name) + " is there already.");
  }
  if (known.id == 0) known.id = next_computation_id_++;
  known.defined = true;
  known.place = computation_count_;
  const int64_t id = known.id;
  std::string computation;
  AppendBytesField(1, name, &computation);
  std::vector<int64_t> order;
  for (const TextInstruction& instruction : instructions_) order.push_back(instruction.id);
  for (const size_t i : MessageOrder()) {
    STROBE_RETURN_IF_ERROR(AppendInstructionMessage(instructions_[i], &computation));
  }
  AppendProgramShape(*root, &computation);
  AppendSignedField(5, id, &computation);
  AppendSignedField(6, instructions_[*root].id, &computation);
  if (at_.Take(", execution_thread=")) {
    STROBE_ASSIGN_OR_RETURN(const std::string thread, at_.QuotedText());
    AppendBytesField(8, thread, &computation);
  }
  AppendBytesField(3, computation, &computations_);
  schedules_.emplace_back(id, std::move(order));
  last_id_ = id;
  last_name_ = name;
  if (entry) {
    entry_id_ = id;
    entry_name_ = name;
  }
  return OkStatus();
}

// The order of the messages. A text lists computations in the order in which the messages call
// them; where the schedule says what runs when, the messages are free to call in that order again.
std::vector<size_t> TextParser::MessageOrder() const {
  std::vector<size_t> order;
  std::vector<std::pair<size_t, size_t>> callers;  // place of the last callee, index
  for (size_t i = 0; i < instructions_.size(); ++i) {
    order.push_back(i);
    size_t last = 0;
    for (const std::vector<TextName>* calls :
         {&instructions_[i].calls, &instructions_[i].wrapped_calls}) {
      for (const TextName& call : *calls) {
        const auto known = computation_ids_.find(call.name);
        if (known != computation_ids_.end()) last = std::max(last, known->second.place);
      }
    }
    if (last > 0) callers.emplace_back(last, i);
  }
  if (!is_scheduled_) return order;
  std::vector<size_t> slots;
  for (const auto& [last, i] : callers) slots.push_back(i);
  std::ranges::stable_sort(callers, {}, &std::pair<size_t, size_t>::first);
  for (size_t k = 0; k < slots.size(); ++k) order[slots[k]] = callers[k].second;
  return order;
}

std::string TextParser::Schedule() const {
  std::string schedule;
  for (const auto& [id, order] : schedules_) {
    std::string sequence;
    AppendPackedField(1, order, &sequence);
    std::string entry;
    AppendSignedField(1, id, &entry);
    AppendBytesField(2, sequence, &entry);
    AppendBytesField(1, entry, &schedule);
  }
  return schedule;
}

}  // namespace

Result<HloText> HloProtoFromText(std::string_view text, const TextLimits& limits) {
  return TextParser(text, limits).Parse();
}

Result<HloModule> ParseHloText(std::string_view text, const TextLimits& limits) {
  STROBE_ASSIGN_OR_RETURN(HloText parsed, HloProtoFromText(text, limits));
  ReadLimits read;
  read.max_instructions = limits.max_instructions;
  read.max_computations = limits.max_computations;
  return HloModule::ReadOwned(std::move(parsed.hlo_proto), read);
}

}  // namespace strobe::hlo
