// The columns of the roofline table, which GPUs and TPUs share but for memories that only one has.
#pragma once

#include <string_view>
#include <vector>

#include "src/tools/table.h"

namespace strobe::tools {

enum class RooflineDevice : uint8_t { kTpu, kGpu };

// Whether the device's table has the column.
bool HasRooflineColumn(std::string_view id, RooflineDevice device);
// All columns of both, in order.
const std::vector<Column>& RooflineColumns(RooflineDevice device);

}  // namespace strobe::tools
