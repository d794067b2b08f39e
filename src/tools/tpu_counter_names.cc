#include "src/tools/tpu_counter_names.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

namespace strobe::tools {
namespace {

constexpr std::string_view kInfix = "unprivileged_";
constexpr uint64_t kCounterBytes = 8;

struct Dimension {
  uint64_t first = 0;
  uint64_t count = 1;
  uint64_t stride = 0;
};

// One group of the table; the tables are ours, so what is wrong with them is a bug.
class GroupReader {
 public:
  GroupReader(std::string_view table, std::vector<TpuCounter>* counters)
      : rest_(table), counters_(counters) {}

  void ReadAll() {
    std::string_view word = Word();
    while (!word.empty()) {
      STROBE_CHECK(word == "@");
      prefix_ = Word();
      address_ = Number(Word());
      dimensions_.clear();
      items_.clear();
      for (word = Word(); word.find(',') != std::string_view::npos; word = Word()) {
        dimensions_.push_back(ReadDimension(word));
      }
      for (; !word.empty() && word != "@"; word = Word()) items_.push_back(word);
      Expand(0, address_, std::string(prefix_));
    }
  }

 private:
  std::string_view Word() {
    const size_t from = rest_.find_first_not_of(" \n");
    if (from == std::string_view::npos) return {};
    rest_.remove_prefix(from);
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \n"));
    rest_.remove_prefix(word.size());
    return word;
  }

  static uint64_t Number(std::string_view text) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    STROBE_CHECK(error == std::errc() && end == text.data() + text.size());
    return value;
  }

  static Dimension ReadDimension(std::string_view word) {
    const size_t one = word.find(',');
    const size_t two = word.find(',', one + 1);
    STROBE_CHECK(two != std::string_view::npos);
    return {Number(word.substr(0, one)), Number(word.substr(one + 1, two - one - 1)),
            Number(word.substr(two + 1))};
  }

  // Depth is bounded by the dimensions of a prefix, three at most.
  void Expand(size_t d, uint64_t address, const std::string& name) {
    if (d == dimensions_.size()) {
      AddItems(address, name);
      return;
    }
    const Dimension& dimension = dimensions_[d];
    std::vector<std::string> numbers;
    for (uint64_t i = 0; i < dimension.count; ++i) {
      numbers.push_back(std::to_string(dimension.first + i));
    }
    std::ranges::sort(numbers);
    const size_t at = name.find("{}");
    STROBE_CHECK(at != std::string::npos);
    for (const std::string& number : numbers) {
      std::string filled = name;
      filled.replace(at, 2, number);
      Expand(d + 1, address + (Number(number) - dimension.first) * dimension.stride, filled);
    }
  }

  void AddItems(uint64_t address, const std::string& prefix) {
    for (const std::string_view item : items_) {
      const size_t colon = item.find(':');
      STROBE_CHECK(colon != std::string_view::npos);
      TpuCounter counter;
      counter.name = prefix;
      counter.name.append(kInfix);
      if (item.front() == '=') {
        counter.name.append(item.substr(1, colon - 1));
      } else {
        counter.name.append("count_").append(item.substr(0, colon));
      }
      counter.id = address + kCounterBytes * Number(item.substr(colon + 1));
      counters_->push_back(std::move(counter));
    }
  }

  std::string_view rest_;
  std::vector<TpuCounter>* counters_;
  std::string_view prefix_;
  uint64_t address_ = 0;
  std::vector<Dimension> dimensions_;
  std::vector<std::string_view> items_;
};

std::vector<TpuCounter> Expanded(std::string_view table) {
  std::vector<TpuCounter> counters;
  GroupReader(table, &counters).ReadAll();
  return counters;
}

// Notes of v6e counters by part of the chip and beginning of the name; the first that fits counts.
struct NoteRule {
  std::string_view part;  // of the full name
  std::string_view name;  // what follows "unprivileged_"
  CounterNote note;
};

constexpr NoteRule kNotes[] = {
    {"_tc_tcs_",
     "count_cycles",
     {"Clock cycles of the TensorCore while counting was on.", "cycle_counter_window"}},
    {"_tc_tcs_",
     "count_scalar_alu_",
     {"Bundles issued with an instruction in this scalar slot.", "activity issue"}},
    {"_tc_tcs_",
     "count_vector_alu_",
     {"Instructions issued in this vector ALU slot.", "activity issue"}},
    {"_tc_tcs_", "count_vst_", {"Stores to VMEM issued.", "activity memory_activity"}},
    {"_tc_tcs_",
     "count_vld_",
     {"Loads from VMEM issued in this slot.", "activity memory_activity"}},
    {"_tc_tcs_",
     "count_matmul_vreg_f32_",
     {"Matrix multiplications issued to this MXU, left side F32 from vector registers.",
      "activity issue"}},
    {"_tc_tcs_",
     "count_matmul_vreg_bf16_",
     {"Matrix multiplications issued to this MXU, left side BF16 from vector registers.",
      "activity issue"}},
    {"_tc_tcs_",
     "count_matmul_vreg_f8_",
     {"Matrix multiplications issued to this MXU, left side 8-bit float from vector registers.",
      "activity issue"}},
    {"_tc_tcs_",
     "count_matmul_vreg_i8_",
     {"Matrix multiplications issued to this MXU, left side 8-bit integer from vector registers.",
      "activity issue"}},
    {"_tc_tcs_",
     "count_matmul_vreg_i4_",
     {"Matrix multiplications issued to this MXU, left side 4-bit integer from vector registers.",
      "activity issue"}},
    {"_tc_tcs_",
     "count_matmul_lmr_bf16_",
     {"Matrix multiplications issued to this MXU, left side BF16 from the LMR.", "activity issue"}},
    {"_tc_tcs_",
     "count_matmul_lmr_i8_",
     {"Matrix multiplications issued to this MXU, left side 8-bit integer from the LMR.",
      "activity issue"}},
    {"_tc_tcs_",
     "count_matmul_lmr_i4_",
     {"Matrix multiplications issued to this MXU, left side 4-bit integer from the LMR.",
      "activity issue"}},
    {"_tc_tcs_",
     "count_mxu_busy_",
     {"Cycles in which exactly this many MXUs multiplied (0, 1 or 2).", "activity cycles"}},
    {"_tc_tcs_",
     "count_matpush_cycles_",
     {"Cycles in which weights were pushed into this MXU.", "activity issue"}},
    {"_tc_tcs_",
     "count_rotate_permute_instruction_",
     {"Rotations and permutations issued to this XLU.", "activity issue"}},
    {"_tc_tcs_",
     "count_rotate_permute_set_",
     {"Permutation patterns set on this XLU.", "activity issue"}},
    {"_tc_tcs_", "count_transpose_", {"Transposes issued to this XLU.", "activity issue"}},
    {"_tc_tcs_",
     "count_packed_",
     {"Packed reductions, permutations and transposes issued to this XLU.", "activity issue"}},
    {"_tc_tcs_",
     "count_xlu_busy_",
     {"Cycles in which exactly this many XLUs were busy (0, 1 or 2).", "activity cycles"}},
    {"_hbmc_",
     "wr_req_ps0",
     {"Full writes asked of pseudo channel 0, in beats of 32 bytes.", "data_transfer"}},
    {"_hbmc_",
     "wr_req_ps1",
     {"Full writes asked of pseudo channel 1, in beats of 32 bytes.", "data_transfer"}},
    {"_hbmc_",
     "partial_write_req_ps0",
     {"Partial writes asked of pseudo channel 0, in beats of 32 bytes.", "data_transfer"}},
    {"_hbmc_",
     "partial_write_req_ps1",
     {"Partial writes asked of pseudo channel 1, in beats of 32 bytes.", "data_transfer"}},
    {"_hbmc_",
     "rd_resp_ps0",
     {"Reads answered by pseudo channel 0, in beats of 32 bytes.", "data_transfer"}},
    {"_hbmc_",
     "rd_resp_ps1",
     {"Reads answered by pseudo channel 1, in beats of 32 bytes.", "data_transfer"}},
    {"_oci_icr_",
     "bn_rd_req_0_insertion_count",
     {"Requests put into the queue.", "insertion queue_stats"}},
    {"_oci_icr_",
     "bn_rd_req_1_insertion_count",
     {"Requests put into the queue.", "insertion queue_stats"}},
    {"_oci_icr_",
     "bn_wr_req_0_insertion_count",
     {"Requests put into the queue.", "insertion queue_stats"}},
    {"_oci_icr_",
     "bn_wr_req_1_insertion_count",
     {"Requests put into the queue.", "insertion queue_stats"}},
    {"_scs_",
     "count_cycles",
     {"Clock cycles of the SparseCore's sequencer while counting was on.",
      "cycle_counter_window scalar"}},
    {"_sct_",
     "count_cycles",
     {"Clock cycles of this SparseCore tile while counting was on.", "cycle_counter_window"}},
    {"_sc_",
     "count_tec_scalar_issue",
     {"Bundles issued by the tile's scalar unit.", "activity issue scalar"}},
    {"_sc_",
     "count_scalar_issue",
     {"Bundles issued by the sequencer's scalar unit.", "activity issue scalar"}},
    {"_sc_",
     "count_tec_s",
     {"Scalar bundles issued with an instruction in this slot.", "activity issue scalar"}},
    {"_sc_",
     "count_s",
     {"Scalar bundles issued with an instruction in this slot.", "activity issue scalar"}},
    {"_sc_",
     "count_vector_issue",
     {"Bundles issued by the tile's vector unit.", "activity issue vector"}},
    {"_sc_",
     "count_v",
     {"Vector bundles issued with an instruction in this slot.", "activity issue vector"}},
};

std::unordered_map<uint64_t, CounterNote> MakeNotes() {
  std::unordered_map<uint64_t, CounterNote> notes;
  for (const TpuCounter& counter : Expanded(internal::kV6eCounterTable)) {
    const std::string_view full = counter.name;
    const std::string_view name = full.substr(full.find(kInfix) + kInfix.size());
    for (const NoteRule& rule : kNotes) {
      if (full.find(rule.part) == std::string_view::npos || !name.starts_with(rule.name)) continue;
      notes[counter.id] = rule.note;
      break;
    }
  }
  return notes;
}

}  // namespace

Result<const std::vector<TpuCounter>*> TpuCountersOf(std::string_view device) {
  static const std::vector<TpuCounter> v6e = Expanded(internal::kV6eCounterTable);
  static const std::vector<TpuCounter> v7x = Expanded(internal::kV7xCounterTable);
  if (device == "v6e") return &v6e;
  if (device == "v7x") return &v7x;
  if (device.empty()) {
    return InvalidArgumentError("COUNTER_DEVICE_MISSING",
                                "device_type is required for perf_counters with names_only")
        .Hint("Give device_type=v6e or device_type=v7x.");
  }
  return InvalidArgumentError("COUNTER_DEVICE_UNKNOWN",
                              "Unsupported device_type: " + std::string(device.substr(0, 100)))
      .Hint(
          "Names are known of v6e and v7x; counters of other devices carry their names in the "
          "profile.");
}

const CounterNote* NoteOfCounter(uint64_t id) {
  static const std::unordered_map<uint64_t, CounterNote> notes = MakeNotes();
  const auto found = notes.find(id);
  return found == notes.end() ? nullptr : &found->second;
}

}  // namespace strobe::tools
