// The HLO modules of a session: a row a module, with its size and the memory that it needs.
//
// A module that cannot be read has a row that says why. Peak memory is that of the compiler's
// buffer assignment, by memory space, and empty where the module has none. Cost: every module is
// decoded once and its heap trace replayed; with memory=false only decoded.
#pragma once

#include "src/tools/tool.h"

namespace strobe::tools {

ToolDescriptor MakeHloModulesTool();

}  // namespace strobe::tools
