// HloModule::Read: one walk over the bytes, then ids become indices.
#include <algorithm>

#include "src/hlo/hlo_module.h"
#include "src/hlo/message.h"

namespace strobe::hlo {

using wire::WireField;
using wire::WireReader;
using wire::WireType;

class ModuleReader {
 public:
  ModuleReader(const ReadLimits& limits, HloModule* module)
      : limits_(limits), shape_budget_(limits.max_shapes), module_(*module) {}

  Status Read();

 private:
  Status ReadModule(std::string_view bytes);
  Status ReadComputation(std::string_view bytes);
  Status ReadInstruction(std::string_view bytes, Instruction* instruction);
  Status ReadShape(std::string_view bytes, uint32_t* index);
  void ReadFrames(std::string_view bytes);
  Status Resolve();
  Status ResolveOperands(uint32_t computation);
  Status ResolveIds(std::string_view what, const Instruction& from, uint32_t first_id,
                    Range* range);
  Status ResolveCalls();
  void LinkUsers();
  Status ResolveSchedule(std::string_view bytes);
  Status CheckLinks(size_t more) const;

  struct IdIndex {
    int64_t id;
    uint32_t index;
    bool operator<(const IdIndex& other) const {
      return id != other.id ? id < other.id : index < other.index;
    }
  };
  static uint32_t Find(const std::vector<IdIndex>& table, int64_t id);

  // Ids of one instruction, until they are resolved: positions in ids_.
  struct Pending {
    Range operands;
    Range controls;
    Range calls;
  };

  const ReadLimits& limits_;
  int64_t shape_budget_;
  HloModule& module_;
  std::vector<Pending> pending_;
  std::vector<int64_t> ids_;
  std::vector<int64_t> root_ids_;
  std::vector<IdIndex> computation_ids_;
  std::vector<IdIndex> instruction_ids_;  // of one computation
  std::unordered_map<std::string_view, uint32_t> shapes_;
  std::string_view schedule_;
  int64_t entry_id_ = 0;
  std::string_view entry_name_;
};

namespace {

Status Damaged(std::string_view what, std::string_view name) {
  return DataLossError("HLO_DAMAGED",
                       "Expected an HLO module, found damaged bytes in " + std::string(what) + ".")
      .Where(std::string(name))
      .Hint("The module was cut or changed; capture the profile or dump the module again.");
}

Status LimitError(std::string_view name, std::string_view what, uint64_t limit) {
  return ResourceExhaustedError(name, "The module has more " + std::string(what) + " than " +
                                          std::to_string(limit) + ", the reader's limit.")
      .Hint("Raise ReadLimits if the module is a real one.");
}

}  // namespace

Status ModuleReader::CheckLinks(size_t more) const {
  if (ids_.size() + module_.links_.size() + more > limits_.max_links) {
    return LimitError("HLO_LIMIT_LINKS", "operands and calls", limits_.max_links);
  }
  return OkStatus();
}

Status ModuleReader::Read() {
  if (module_.bytes_.empty()) {
    return NotFoundError("HLO_EMPTY", "Expected an HLO module, found 0 bytes.")
        .Hint("The profile carries no module; capture with HLO protos enabled.");
  }
  WireReader reader(module_.bytes_);
  WireField field;
  bool found = false;
  while (reader.Next(&field)) {
    if (field.type != WireType::kBytes) continue;
    if (field.number == 1) {
      module_.record_ = field.bytes;
      found = true;
    }
    if (field.number == 3) module_.buffer_assignment_ = field.bytes;
  }
  if (reader.error() != wire::WireError::kNone) return Damaged("the outer message", "");
  if (!found) {
    return InvalidArgumentError("HLO_NO_MODULE", "Expected an HloProto with a module in field 1.")
        .Hint("Give a *.hlo_proto.pb of a profile or a *.hlo.pb of a compiler dump.");
  }
  STROBE_RETURN_IF_ERROR(ReadModule(module_.record_));
  return Resolve();
}

Status ModuleReader::ReadModule(std::string_view bytes) {
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) {
    switch (field.number) {
      case 1:
        module_.name_ = field.bytes;
        break;
      case 2:
        entry_name_ = field.bytes;
        break;
      case 3:
        if (field.type != WireType::kBytes) return Damaged("a computation", module_.name_);
        STROBE_RETURN_IF_ERROR(ReadComputation(field.bytes));
        break;
      case 5:
        module_.id_ = field.signed_value();
        break;
      case 6:
        entry_id_ = field.signed_value();
        break;
      case 7:
        schedule_ = field.bytes;
        module_.is_scheduled_ = true;
        break;
      case 17:
        ReadFrames(field.bytes);
        break;
      default:
        break;
    }
  }
  if (reader.error() != wire::WireError::kNone) return Damaged("the module", module_.name_);
  if (module_.computations_.empty()) {
    return InvalidArgumentError("HLO_NO_COMPUTATION",
                                "Expected at least one computation in the module.")
        .Where(std::string(module_.name_))
        .Hint("The bytes are not an HLO module, or its computations were stripped.");
  }
  return OkStatus();
}

Status ModuleReader::ReadComputation(std::string_view bytes) {
  if (module_.computations_.size() >= limits_.max_computations) {
    return LimitError("HLO_LIMIT_COMPUTATIONS", "computations", limits_.max_computations);
  }
  Computation computation;
  computation.instructions.first = static_cast<uint32_t>(module_.instructions_.size());
  int64_t root_id = 0;
  const auto index = static_cast<uint32_t>(module_.computations_.size());
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) {
    switch (field.number) {
      case 1:
        computation.name = field.bytes;
        break;
      case 2: {
        if (module_.instructions_.size() >= limits_.max_instructions) {
          return LimitError("HLO_LIMIT_INSTRUCTIONS", "instructions", limits_.max_instructions);
        }
        Instruction instruction;
        instruction.computation = index;
        STROBE_RETURN_IF_ERROR(ReadInstruction(field.bytes, &instruction));
        module_.instructions_.push_back(instruction);
        break;
      }
      case 4:
        computation.program_shape = field.bytes;
        break;
      case 5:
        computation.id = field.signed_value();
        break;
      case 6:
        root_id = field.signed_value();
        break;
      case 7:
        computation.is_fusion = field.value != 0;
        break;
      case 8:
        computation.execution_thread = field.bytes;
        break;
      default:
        break;
    }
  }
  if (reader.error() != wire::WireError::kNone) return Damaged("a computation", computation.name);
  computation.instructions.count =
      static_cast<uint32_t>(module_.instructions_.size()) - computation.instructions.first;
  if (computation.instructions.count == 0) {
    return InvalidArgumentError("HLO_EMPTY_COMPUTATION",
                                "Expected a computation to have a root instruction.")
        .Where(std::string(computation.name))
        .Hint("The module is damaged; dump it again.");
  }
  module_.computations_.push_back(computation);
  root_ids_.push_back(root_id);
  return OkStatus();
}

Status ModuleReader::ReadInstruction(std::string_view bytes, Instruction* instruction) {
  instruction->record = bytes;
  Pending pending;
  const auto begin = [this](Range* range) {
    // The ids of one field stand together in what every writer makes; if not, the last part counts.
    if (range->count == 0 || range->first + range->count != ids_.size()) {
      *range = {static_cast<uint32_t>(ids_.size()), 0};
    }
  };
  WireReader reader(bytes);
  WireField field;
  bool shape_seen = false;
  while (reader.Next(&field)) {
    Range* ids = nullptr;
    switch (field.number) {
      case 1:
        instruction->name = field.bytes;
        break;
      case 2:
        instruction->opcode_text = field.bytes;
        break;
      case 3:
        STROBE_RETURN_IF_ERROR(ReadShape(field.bytes, &instruction->shape));
        shape_seen = true;
        break;
      case 7:
        instruction->metadata = field.bytes;
        break;
      case 9:
      case 13:
        instruction->number = field.signed_value();
        break;
      case 35:
        instruction->id = field.signed_value();
        break;
      case 36:
        ids = &pending.operands;
        break;
      case 37:
        ids = &pending.controls;
        break;
      case 38:
        ids = &pending.calls;
        break;
      case 43:
        instruction->backend_config = field.bytes;
        break;
      default:
        break;
    }
    if (ids == nullptr) continue;
    STROBE_RETURN_IF_ERROR(CheckLinks(field.bytes.size() + 1));
    begin(ids);
    AppendInts(field, &ids_);
    ids->count = static_cast<uint32_t>(ids_.size()) - ids->first;
  }
  if (reader.error() != wire::WireError::kNone) {
    return Damaged("an instruction", instruction->name);
  }
  if (!shape_seen) STROBE_RETURN_IF_ERROR(ReadShape({}, &instruction->shape));
  instruction->opcode = OpcodeOf(instruction->opcode_text);
  pending_.push_back(pending);
  return OkStatus();
}

Status ModuleReader::ReadShape(std::string_view bytes, uint32_t* index) {
  const auto [at, added] =
      shapes_.try_emplace(bytes, static_cast<uint32_t>(module_.shapes_.size()));
  *index = at->second;
  if (!added) return OkStatus();
  STROBE_ASSIGN_OR_RETURN(Shape shape, ParseShapeMessage(bytes, &shape_budget_));
  module_.shapes_.push_back(std::move(shape));
  return OkStatus();
}

void ModuleReader::ReadFrames(std::string_view bytes) {
  StackFrames& frames = module_.frames_;
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) {
    if (field.type != WireType::kBytes) continue;
    const Message part(field.number == 3 || field.number == 4 ? field.bytes : std::string_view());
    if (field.number == 1) frames.files.push_back(field.bytes);
    if (field.number == 2) frames.functions.push_back(field.bytes);
    if (field.number == 3) {
      frames.locations.push_back(
          {part.Int(1), part.Int(2), part.Int(3), part.Int(4), part.Int(5), part.Int(6)});
    }
    if (field.number == 4) frames.frames.push_back({part.Int(1), part.Int(2)});
  }
}

uint32_t ModuleReader::Find(const std::vector<IdIndex>& table, int64_t id) {
  const auto at = std::lower_bound(table.begin(), table.end(), IdIndex{id, 0});
  return at == table.end() || at->id != id ? kNone : at->index;
}

Status ModuleReader::Resolve() {
  for (uint32_t c = 0; c < module_.computations_.size(); ++c) {
    computation_ids_.push_back({module_.computations_[c].id, c});
  }
  std::sort(computation_ids_.begin(), computation_ids_.end());
  module_.links_.reserve(2 * ids_.size());
  for (uint32_t c = 0; c < module_.computations_.size(); ++c) {
    STROBE_RETURN_IF_ERROR(ResolveOperands(c));
  }
  STROBE_RETURN_IF_ERROR(ResolveCalls());
  module_.entry_ = Find(computation_ids_, entry_id_);
  if (module_.entry_ == kNone || entry_id_ == 0) {
    const uint32_t by_name = module_.FindComputation(entry_name_);
    if (by_name != kNone) module_.entry_ = by_name;
  }
  // Modules of old compilers name no entry: it is the last computation.
  if (module_.entry_ == kNone) {
    module_.entry_ = static_cast<uint32_t>(module_.computations_.size()) - 1;
  }
  STROBE_RETURN_IF_ERROR(ResolveSchedule(schedule_));
  LinkUsers();
  return OkStatus();
}

Status ModuleReader::ResolveIds(std::string_view what, const Instruction& from, uint32_t first_id,
                                Range* range) {
  range->first = static_cast<uint32_t>(module_.links_.size());
  for (uint32_t i = 0; i < range->count; ++i) {
    const int64_t id = ids_[first_id + i];
    const uint32_t index = Find(instruction_ids_, id);
    if (index == kNone) {
      return DataLossError("HLO_UNKNOWN_OPERAND", "Expected the " + std::string(what) +
                                                      " of an instruction in its computation; "
                                                      "there is none with id " +
                                                      std::to_string(id) + ".")
          .Where(std::string(from.name))
          .Hint("The module is damaged; dump it again.");
    }
    module_.links_.push_back(index);
  }
  return OkStatus();
}

Status ModuleReader::ResolveOperands(uint32_t c) {
  Computation& computation = module_.computations_[c];
  const uint32_t first = computation.instructions.first;
  const uint32_t end = first + computation.instructions.count;
  instruction_ids_.clear();
  for (uint32_t i = first; i < end; ++i) {
    instruction_ids_.push_back({module_.instructions_[i].id, i});
  }
  std::sort(instruction_ids_.begin(), instruction_ids_.end());
  for (uint32_t i = first; i < end; ++i) {
    Instruction& instruction = module_.instructions_[i];
    const Pending& pending = pending_[i];
    instruction.operands.count = pending.operands.count;
    STROBE_RETURN_IF_ERROR(
        ResolveIds("operand", instruction, pending.operands.first, &instruction.operands));
    instruction.control_predecessors.count = pending.controls.count;
    STROBE_RETURN_IF_ERROR(ResolveIds("control predecessor", instruction, pending.controls.first,
                                      &instruction.control_predecessors));
  }
  computation.root = Find(instruction_ids_, root_ids_[c]);
  if (computation.root == kNone) computation.root = end - 1;
  return OkStatus();
}

Status ModuleReader::ResolveCalls() {
  for (uint32_t i = 0; i < module_.instructions_.size(); ++i) {
    Instruction& instruction = module_.instructions_[i];
    const Range ids = pending_[i].calls;
    instruction.calls = {static_cast<uint32_t>(module_.links_.size()), ids.count};
    for (uint32_t k = 0; k < ids.count; ++k) {
      const uint32_t called = Find(computation_ids_, ids_[ids.first + k]);
      if (called == kNone) {
        return DataLossError("HLO_UNKNOWN_COMPUTATION",
                             "Expected a called computation in the module; there is none with id " +
                                 std::to_string(ids_[ids.first + k]) + ".")
            .Where(std::string(instruction.name))
            .Hint("The module is damaged; dump it again.");
      }
      module_.links_.push_back(called);
      Computation& computation = module_.computations_[called];
      if (computation.caller == kNone) computation.caller = i;
      if (instruction.opcode == Opcode::kFusion) computation.is_fusion = true;
      if (instruction.opcode == Opcode::kAsyncStart) computation.is_async = true;
    }
  }
  return OkStatus();
}

void ModuleReader::LinkUsers() {
  std::vector<Instruction>& instructions = module_.instructions_;
  // Counts first, then places; an instruction that takes the same operand twice counts once.
  std::vector<uint32_t> last_user(instructions.size(), kNone);
  const auto each = [&](auto&& use) {
    std::fill(last_user.begin(), last_user.end(), kNone);
    for (uint32_t i = 0; i < instructions.size(); ++i) {
      const Range operands = instructions[i].operands;
      for (uint32_t k = 0; k < operands.count; ++k) {
        const uint32_t operand = module_.links_[operands.first + k];
        if (last_user[operand] == i) continue;
        last_user[operand] = i;
        use(operand, i);
      }
    }
  };
  each([&](uint32_t operand, uint32_t) { ++instructions[operand].users.count; });
  auto next = static_cast<uint32_t>(module_.links_.size());
  for (Instruction& instruction : instructions) {
    instruction.users.first = next;
    next += instruction.users.count;
    instruction.users.count = 0;
  }
  module_.links_.resize(next);
  each([&](uint32_t operand, uint32_t user) {
    Range& users = instructions[operand].users;
    module_.links_[users.first + users.count++] = user;
  });
}

Status ModuleReader::ResolveSchedule(std::string_view bytes) {
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number != 1 || field.type != WireType::kBytes) continue;
    const Message entry(field.bytes);
    const uint32_t c = Find(computation_ids_, entry.Int(1));
    if (c == kNone) continue;
    Computation& computation = module_.computations_[c];
    STROBE_RETURN_IF_ERROR(CheckLinks(field.bytes.size()));
    instruction_ids_.clear();
    const uint32_t end = computation.instructions.first + computation.instructions.count;
    for (uint32_t i = computation.instructions.first; i < end; ++i) {
      instruction_ids_.push_back({module_.instructions_[i].id, i});
    }
    std::sort(instruction_ids_.begin(), instruction_ids_.end());
    computation.schedule.first = static_cast<uint32_t>(module_.links_.size());
    for (const int64_t id : Message(entry.Bytes(2)).Ints(1)) {
      const uint32_t index = Find(instruction_ids_, id);
      if (index != kNone) module_.links_.push_back(index);
    }
    computation.schedule.count =
        static_cast<uint32_t>(module_.links_.size()) - computation.schedule.first;
    computation.is_scheduled = true;
  }
  return reader.error() == wire::WireError::kNone ? OkStatus()
                                                  : Damaged("the schedule", module_.name_);
}

Result<HloModule> HloModule::Read(std::string_view hlo_proto, const ReadLimits& limits,
                                  std::shared_ptr<const void> owner) {
  HloModule module;
  module.bytes_ = hlo_proto;
  module.owner_ = std::move(owner);
  ModuleReader reader(limits, &module);
  STROBE_RETURN_IF_ERROR(reader.Read());
  return module;
}

Result<HloModule> HloModule::ReadOwned(std::string hlo_proto, const ReadLimits& limits) {
  auto owner = std::make_shared<const std::string>(std::move(hlo_proto));
  const std::string_view bytes = *owner;
  return Read(bytes, limits, std::move(owner));
}

}  // namespace strobe::hlo
