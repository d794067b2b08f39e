// Facts of one host's profile that op stats carry beside the metrics: the machine, its cores, the
// programs, whether they train.
//
// Cost: the stats of the device planes; for training a search through the bytes of the modules, and
// a decode of those that may train.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "src/analysis/op_stats.h"
#include "src/analysis/prepared_host.h"
#include "src/hlo/module_set.h"

namespace strobe::analysis {

// Without is_training.
RunEnvironment RunEnvironmentOf(const xplane::ProfileFile& file);
PerfEnv PerfEnvOf(const xplane::ProfileFile& file);
// By plane id; a host with GPUs, or without devices, has one unnamed core, kGenericCore.
std::map<uint32_t, CoreDetails> CoresOf(const xplane::ProfileFile& file);
std::map<uint64_t, std::string> ProgramNamesOf(const hlo::ModuleSet& modules);
Diagnostics DiagnosticsOf(const xplane::ProfileFile& file);
CounterAverages CountersOf(const xplane::ProfileFile& file);

// An op comes from a gradient: JAX's "transpose(jvp(f))", TensorFlow's "gradients" and
// "gradient_tape".
bool IsGradientOp(std::string_view op_name, std::string_view op_type);
// Some instruction of some module that the profile carries does.
bool IsTraining(const hlo::ModuleSet& modules);

// Mean time of the modules that generate a token, of a host that serves models in parts; 0: it does
// not.
double DecodeStepMilliseconds(const PreparedHost& host);

// Index of the plane "/host:CPU"; npos when there is none.
size_t HostPlaneOf(const xplane::ProfileFile& file);

}  // namespace strobe::analysis
