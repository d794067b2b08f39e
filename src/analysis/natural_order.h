// Order of names as people expect it: runs of digits compare by their value.
//
//   NaturalLess("/device:TPU:2", "/device:TPU:10")   -> true
//
// A strict weak order over bytes; leading zeros only break ties. Cost: one pass. No allocation.
#pragma once

#include <string_view>

namespace strobe::analysis {

bool NaturalLess(std::string_view left, std::string_view right);

}  // namespace strobe::analysis
