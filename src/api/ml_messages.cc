#include "src/api/ml_messages.h"

namespace strobe::api {
namespace {

using enum FieldType;

const EnumSpec& Orchestrators() {
  static const EnumSpec words{"Orchestrator",
                              {"ORCHESTRATOR_UNSPECIFIED", "GCE", "GKE", "SLURM", "CUSTOM"}};
  return words;
}
const EnumSpec& RunPhases() {
  static const EnumSpec words{"RunPhase",
                              {"RUN_PHASE_UNSPECIFIED", "ACTIVE", "COMPLETED", "FAILED"}};
  return words;
}
const EnumSpec& RunStates() {
  static const EnumSpec words{
      "State", {"STATE_UNSPECIFIED", "STATE_ACTIVE", "STATE_COMPLETED", "STATE_FAILED"}};
  return words;
}
const EnumSpec& SessionKinds() {
  static const EnumSpec words{
      "Kind",
      {"KIND_UNSPECIFIED", "KIND_ON_DEMAND", "KIND_PROGRAMMATIC", "KIND_SCANNED", "KIND_SNAPSHOT"}};
  return words;
}
const EnumSpec& SessionPhases() {
  static const EnumSpec words{"SessionPhase",
                              {"SESSION_PHASE_UNSPECIFIED", "PENDING", "ACTIVE", "SUCCEEDED",
                               "FAILED", "CANCELLING", "CANCELLED"}};
  return words;
}
const EnumSpec& HostLevels() {
  static const EnumSpec words{
      "HostTracerLevel",
      {"HOST_TRACER_LEVEL_UNSPECIFIED", "HOST_TRACER_LEVEL_DISABLED", "HOST_TRACER_LEVEL_CRITICAL",
       "HOST_TRACER_LEVEL_INFO", "HOST_TRACER_LEVEL_VERBOSE"}};
  return words;
}
const EnumSpec& DeviceLevels() {
  static const EnumSpec words{"DeviceTracerLevel",
                              {"DEVICE_TRACER_LEVEL_UNSPECIFIED", "DEVICE_TRACER_LEVEL_DISABLED",
                               "DEVICE_TRACER_LEVEL_ENABLED"}};
  return words;
}
const EnumSpec& PythonLevels() {
  static const EnumSpec words{"PythonTracerLevel",
                              {"PYTHON_TRACER_LEVEL_UNSPECIFIED", "PYTHON_TRACER_LEVEL_DISABLED",
                               "PYTHON_TRACER_LEVEL_ENABLED"}};
  return words;
}
const EnumSpec& EventTypes() {
  static const EnumSpec words{"Type",
                              {"TYPE_UNSPECIFIED", "PERFORMANCE_DEGRADATION", "SLICE_DEGRADATION",
                               "HANG", "ORCHESTRATOR_INTERRUPTION"}};
  return words;
}
const EnumSpec& Detections() {
  static const EnumSpec words{"DetectionState",
                              {"DETECTION_STATE_UNSPECIFIED", "DETECTED", "NOT_DETECTED"}};
  return words;
}
const EnumSpec& TargetStates() {
  static const EnumSpec words{"State", {"STATE_UNSPECIFIED", "RUNNING", "SUCCEEDED", "FAILED"}};
  return words;
}

const MessageSpec& ConfigsMessage() {
  static const MessageSpec message{"Configs",
                                   {{"softwareConfigs", kStringMap},
                                    {"hardwareConfigs", kStringMap},
                                    {"userConfigs", kStringMap}}};
  return message;
}

const MessageSpec& ToolMessage() {
  static const MessageSpec xprof{"XProf", {{"sessionId", kString}}};
  static const MessageSpec smon{"Smon", {{"monitoringSummary", kString}}};
  static const MessageSpec message{"Tool",
                                   {{"xprof", kMessage, &xprof}, {"smon", kMessage, &smon}}};
  return message;
}

const MessageSpec& MetricsMessage() {
  static const MessageSpec message{"Metrics",
                                   {{"avgStep", kDuration},
                                    {"avgLatency", kDuration},
                                    {"avgMfu", kDouble},
                                    {"avgThroughput", kDouble},
                                    {"avgTpuTensorcoreUtilization", kDouble},
                                    {"avgHbmUtilization", kDouble}}};
  return message;
}

const MessageSpec& WorkloadDetailsMessage() {
  static const MessageSpec gke{"GKEWorkloadDetails",
                               {{"id", kString},
                                {"kind", kString},
                                {"cluster", kString},
                                {"namespace", kString},
                                {"parentWorkload", kString},
                                {"labels", kStringMap},
                                {"createTime", kTimestamp}}};
  static const MessageSpec gce{
      "GCEWorkloadDetails",
      {{"id", kString}, {"displayName", kString}, {"createTime", kTimestamp}}};
  static const MessageSpec slurm{"SlurmWorkloadDetails",
                                 {{"cluster", kString},
                                  {"jobId", kString},
                                  {"displayName", kString},
                                  {"submitTime", kTimestamp}}};
  static const MessageSpec target{"Target",
                                  {{"displayName", kString},
                                   {"hostname", kString},
                                   {"instanceId", kString},
                                   {"zone", kString},
                                   {"state", kEnum, nullptr, &TargetStates()}}};
  static const MessageSpec message{"WorkloadDetails",
                                   {{"gke", kMessage, &gke},
                                    {"gce", kMessage, &gce},
                                    {"slurm", kMessage, &slurm},
                                    {"custom", kMessage, &gce},
                                    {"targets", kMessage, &target, nullptr, true}}};
  return message;
}

}  // namespace

const MessageSpec& RunMessage() {
  static const MessageSpec artifacts{"Artifacts", {{"gcsPath", kString}}};
  static const MessageSpec message{"MachineLearningRun",
                                   {{"name", kString},
                                    {"displayName", kString},
                                    {"errorDetails", kString},
                                    {"runSet", kString},
                                    {"runGroup", kString},
                                    {"etag", kString},
                                    {"configs", kMessage, &ConfigsMessage()},
                                    {"tools", kMessage, &ToolMessage(), nullptr, true},
                                    {"metrics", kMessage, &MetricsMessage()},
                                    {"labels", kStringMap},
                                    {"state", kEnum, nullptr, &RunStates()},
                                    {"runPhase", kEnum, nullptr, &RunPhases()},
                                    {"artifacts", kMessage, &artifacts},
                                    {"orchestrator", kEnum, nullptr, &Orchestrators()},
                                    {"workloadDetails", kMessage, &WorkloadDetailsMessage()}}};
  return message;
}

const MessageSpec& ProfilerTargetMessage() {
  static const MessageSpec message{"ProfilerTarget",
                                   {{"name", kString},
                                    {"isMaster", kBool},
                                    {"hostname", kString},
                                    {"nodeIndex", kInt32},
                                    {"etag", kString}}};
  return message;
}

const MessageSpec& ProfilerSessionMessage() {
  static const MessageSpec status{"Status", {{"code", kInt32}, {"message", kString}}};
  static const MessageSpec target_session{"TargetSession",
                                          {{"sessionPhase", kEnum, nullptr, &SessionPhases()},
                                           {"startTime", kTimestamp},
                                           {"endTime", kTimestamp},
                                           {"status", kMessage, &status}}};
  static const MessageSpec message{"ProfilerSession",
                                   {{"name", kString},
                                    {"kind", kEnum, nullptr, &SessionKinds()},
                                    {"profilerTargets", kString, nullptr, nullptr, true},
                                    {"targetSessions", kMessageMap, &target_session},
                                    {"duration", kDuration},
                                    {"isTraceEnabled", kBool},
                                    {"hostTracerLevel", kEnum, nullptr, &HostLevels()},
                                    {"deviceTracerLevel", kEnum, nullptr, &DeviceLevels()},
                                    {"pythonTracerLevel", kEnum, nullptr, &PythonLevels()},
                                    {"xprofServerPort", kInt32},
                                    {"autoCaptured", kBool},
                                    {"monitoredEvents", kString, nullptr, nullptr, true},
                                    {"etag", kString}}};
  return message;
}

const MessageSpec& MonitoredEventMessage() {
  static const MessageSpec action{"RecommendedAction",
                                  {{"description", kString}, {"documentationUrl", kString}}};
  static const MessageSpec report{"AnalyzerReport",
                                  {{"analyzer", kString},
                                   {"detectionState", kEnum, nullptr, &Detections()},
                                   {"details", kString},
                                   {"recommendedActions", kMessage, &action, nullptr, true}}};
  static const MessageSpec message{"MonitoredEvent",
                                   {{"name", kString},
                                    {"displayName", kString},
                                    {"type", kEnum, nullptr, &EventTypes()},
                                    {"startTime", kTimestamp},
                                    {"endTime", kTimestamp},
                                    {"analyzerReports", kMessage, &report, nullptr, true},
                                    {"profilerSession", kString},
                                    {"etag", kString}}};
  return message;
}

const MessageSpec& SelfHostedRunMessage() {
  static const EnumSpec states{
      "State", {"STATE_UNSPECIFIED", "STATE_RUNNING", "STATE_SUCCEEDED", "STATE_FAILED"}};
  static const EnumSpec creators{"Creator",
                                 {"CREATOR_UNSPECIFIED", "CREATOR_MANUAL", "CREATOR_AUTOMATIC"}};
  static const MessageSpec workload{
      "Workload",
      {{"workloadId", kString}, {"displayName", kString}, {"state", kEnum, nullptr, &states}}};
  static const MessageSpec message{"MachineLearningRun",
                                   {{"name", kString},
                                    {"logicalId", kString},
                                    {"displayName", kString},
                                    {"creator", kEnum, nullptr, &creators},
                                    {"clusterId", kString},
                                    {"workload", kMessage, &workload},
                                    {"baseBlobPath", kString}}};
  return message;
}

}  // namespace strobe::api
