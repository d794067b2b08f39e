// What an op of a TPU trace is: everything constant about it stands in its event metadata.
//
//   if (std::optional<OpIdentity> op = ReadOpIdentity(file, plane, metadata)) Use(op->key, op->op);
//
// Cost: one decode of the entry's stats. Texts are copied.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/analysis/op_metrics.h"
#include "src/xplane/profile_file.h"

namespace strobe::analysis {

struct OpKey {
  uint64_t program_id = 0;
  uint64_t symbol_id = 0;
  friend auto operator<=>(const OpKey&, const OpKey&) = default;
};

struct OpIdentity {
  OpKey key;
  OpMetrics op;  // texts, and flops, bytes and memory of ONE occurrence
};

// nullopt: the entry is no op (no program or no symbol).
std::optional<OpIdentity> ReadOpIdentity(const xplane::ProfileFile& file, size_t plane,
                                         uint32_t event_metadata);

// A MemoryAccessBreakdown message; empty when it is damaged.
std::vector<MemoryAccessed> ParseMemoryAccess(std::string_view bytes);

// "file.py:118" -> 118; 0 when it does not end in a number behind the first colon.
int32_t SourceLineOf(std::string_view source);

inline constexpr std::string_view kCustomCall = "custom-call";

// Turns the numbers of one occurrence into totals. Ops without model flops take their flops; those
// of custom calls depend on the call and are left alone.
void ScaleByOccurrences(OpMetrics* op);

}  // namespace strobe::analysis
