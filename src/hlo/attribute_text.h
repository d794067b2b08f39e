// Texts of the structured attributes of an instruction, from their bytes: windows, dimension
// labels, device groups, shardings, metadata.
//
//   AppendWindow(record.Bytes(15), &text);        // "{size=3x3 pad=1_1x1_1}"
//   AppendSharding(record.Bytes(40), &text);      // "{devices=[2,2]<=[4]}"
//
// Pure functions; cost linear in the bytes given. Nesting is bounded by kMaxShardingDepth.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/hlo/hlo_module.h"
#include "src/hlo/message.h"

namespace strobe::hlo {

inline constexpr int kMaxShardingDepth = 8;

// "1,2,3" with any separator.
void AppendJoined(const std::vector<int64_t>& values, std::string_view separator, std::string* out);
// "{1,2,3}".
void AppendBraced(const std::vector<int64_t>& values, std::string* out);
// The text between quotes of a C string: \n, \", \\, octal for what is not printable.
void AppendEscaped(std::string_view text, std::string* out);
// Whether the text reads as one {...} with balanced braces, as JSON objects do.
bool LooksLikeBraces(std::string_view text);
// As it is when it looks like braces, else escaped in quotes.
void AppendConfigText(std::string_view text, std::string* out);

// A backend's settings. An empty field that compilers no longer have is left out, as the reference
// does. What is not in braces is quoted, when `quoted`.
void AppendBackendConfig(std::string_view config, std::string* out, bool quoted = true);

void AppendWindow(std::string_view window, std::string* out);
void AppendDimensionLabels(std::string_view convolution_dimensions, std::string* out);
void AppendPadding(std::string_view padding_config, std::string* out);
void AppendSharding(std::string_view sharding, std::string* out, int depth = 0);
// replica_groups of a collective: lists, a compact list, or axes of a mesh. A compact list within
// the list of devices is written {} when `as_reference`.
void AppendDeviceGroups(const Message& record, std::string* out, bool as_reference);
void AppendSourceTargets(const Message& record, std::string* out);
void AppendOutputAliasing(const std::vector<std::string_view>& pairs, std::string* out);
// {a="1",b="2"} sorted by name. False when there are none.
bool AppendFrontendAttributes(std::string_view attributes, std::string* out);
// Contents of metadata={...}; false when nothing of it is worth a line.
bool AppendMetadata(const OpMetadata& metadata, std::string* out);

}  // namespace strobe::hlo
