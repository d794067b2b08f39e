#include "src/analysis/host_event.h"

#include <string>
#include <unordered_map>

#include "src/analysis/tf_op_name.h"

namespace strobe::analysis {
namespace {

using Names = std::unordered_map<std::string_view, HostEvent>;

Names MakeNames() {
  Names names = {
      {"TraceContext", HostEvent::kTraceContext},
      {"SessionRun", HostEvent::kSessionRun},
      {"FunctionRun", HostEvent::kFunctionRun},
      {"RunGraph", HostEvent::kRunGraph},
      {"EagerExecute", HostEvent::kEagerExecute},
      {"ExecutorState::Process", HostEvent::kExecutorProcess},
      {"TfOpRun", HostEvent::kFrameworkOp},
      {"Iterator", HostEvent::kIterator},
  };
  for (const char* name :
       {"MemoryAllocation", "MemoryDeallocation", "PrefetchProduce", "PrefetchConsume",
        "ParallelInterleaveProduce", "ParallelInterleaveConsume",
        "ParallelInterleaveInitializeInput", "ParallelMapProduce", "ParallelMapConsume",
        "MapAndBatchProduce", "MapAndBatchConsume", "ParseExampleProduce", "ParseExampleConsume"}) {
    names.emplace(name, HostEvent::kInternal);
  }
  for (const char* name :
       {"InstantiatedCapturedFunction::Run", "InstantiatedCapturedFunction::RunWithBorrowedArgs",
        "InstantiatedCapturedFunction::RunInstantiated",
        "InstantiatedCapturedFunction::RunAsync"}) {
    names.emplace(name, HostEvent::kCapturedFunction);
  }
  for (const char* name :
       {"ParallelForOp", "ForeverOp", "WhileOp-EvalCond", "WhileOp-StartBody", "ForOp"}) {
    names.emplace(name, HostEvent::kLoop);
  }
  for (const char* name :
       {"IteratorGetNextOp::DoCompute", "IteratorGetNextAsOptionalOp::DoCompute"}) {
    names.emplace(name, HostEvent::kIteratorGetNext);
  }
  for (const char* name : {"Iterator::Prefetch::Generator",
                           "UnknownHostEventType",
                           "RunGraphDone",
                           "ExecutorDoneCallback",
                           "RemotePerfCounter",
                           "ParallelBatchProduce",
                           "ParallelBatchConsume",
                           "BatchingSessionRun",
                           "ProcessBatch",
                           "BrainSessionRun",
                           "ConcatInputTensors",
                           "MergeInputTensors",
                           "ScheduleWithoutSplit",
                           "ScheduleWithSplit",
                           "ScheduleWithEagerSplit",
                           "ASBSQueue::Schedule",
                           "OrbaxServing::ProcessBatch",
                           "OrbaxServing::ConcatInputBuffers",
                           "TfrtModelRun",
                           "ServingModelRun",
                           "KernelLaunch",
                           "KernelExecute",
                           "EnqueueRequestLocked",
                           "RunProgramRequest",
                           "HostCallbackRequest",
                           "TransferH2DRequest",
                           "TransferPreprocessedH2DRequest",
                           "TransferD2HRequest",
                           "OnDeviceSendRequest",
                           "OnDeviceRecvRequest",
                           "OnDeviceSendRecvLocalRequest",
                           "CustomWait",
                           "OnDeviceSendRequestMulti",
                           "OnDeviceRecvRequestMulti",
                           "PjrtAsyncWait",
                           "DoEnqueueProgram",
                           "DoEnqueueContinuationProgram",
                           "WriteHbm",
                           "ReadHbm",
                           "TpuExecuteOp",
                           "CompleteCallbacks",
                           "TPUPartitionedCallOp-InitializeVarOnTPU",
                           "TPUPartitionedCallOp-ExecuteRemote",
                           "TPUPartitionedCallOp-ExecuteLocal",
                           "Linearize",
                           "Delinearize",
                           "TransferBufferFromDevice-FastPath",
                           "tpu::System::TransferToDevice=>IssueEvent",
                           "tpu::System::TransferToDevice=>IssueEvent=>Done",
                           "tpu::System::TransferFromDevice=>IssueEvent",
                           "tpu::System::TransferFromDevice=>IssueEvent=>Done",
                           "tpu::System::Execute"}) {
    names.emplace(name, HostEvent::kOther);
  }
  return names;
}

}  // namespace

HostEvent HostEventOf(std::string_view name) {
  static const Names names = MakeNames();
  const auto known = names.find(name);
  if (known != names.end()) return known->second;
  if (name.find(':') == std::string_view::npos) return HostEvent::kUnknown;
  switch (ParseFrameworkOp(name).category) {
    case FrameworkCategory::kTensorFlow:
      return HostEvent::kFrameworkOp;
    case FrameworkCategory::kTfData:
      return HostEvent::kIterator;
    default:
      return HostEvent::kUnknown;
  }
}

}  // namespace strobe::analysis
