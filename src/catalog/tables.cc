#include "src/catalog/tables.h"

namespace strobe::catalog {

template <>
const Table<Run>& TableOf<Run>() {
  static const Table<Run> table{.name = "runs",
                                .noun = "run",
                                .key_columns = 3,
                                .columns = {{"project", &Run::project},
                                            {"location", &Run::location},
                                            {"id", &Run::id},
                                            {"etag", &Run::etag},
                                            {"create_unix_ns", &Run::create_unix_ns},
                                            {"update_unix_ns", &Run::update_unix_ns},
                                            {"end_unix_ns", &Run::end_unix_ns},
                                            {"display_name", &Run::display_name},
                                            {"run_set", &Run::run_set},
                                            {"state", &Run::state},
                                            {"phase", &Run::phase},
                                            {"orchestrator", &Run::orchestrator},
                                            {"storage_path", &Run::storage_path},
                                            {"logical_id", &Run::logical_id},
                                            {"existing_only", &Run::existing_only},
                                            {"scan_due_unix_ns", &Run::scan_due_unix_ns},
                                            {"scan_done_unix_ns", &Run::scan_done_unix_ns},
                                            {"scan_interval_ns", &Run::scan_interval_ns},
                                            {"scan_error", &Run::scan_error},
                                            {"body", &Run::body}}};
  return table;
}

template <>
const Table<ProfilerTarget>& TableOf<ProfilerTarget>() {
  static const Table<ProfilerTarget> table{
      .name = "profiler_targets",
      .noun = "profiler target",
      .key_columns = 4,
      .columns = {{"project", &ProfilerTarget::project},
                  {"location", &ProfilerTarget::location},
                  {"run", &ProfilerTarget::run},
                  {"id", &ProfilerTarget::id},
                  {"etag", &ProfilerTarget::etag},
                  {"create_unix_ns", &ProfilerTarget::create_unix_ns},
                  {"hostname", &ProfilerTarget::hostname},
                  {"node_index", &ProfilerTarget::node_index},
                  {"is_master", &ProfilerTarget::is_master},
                  {"automatic", &ProfilerTarget::automatic}}};
  return table;
}

template <>
const Table<ProfilerSession>& TableOf<ProfilerSession>() {
  static const Table<ProfilerSession> table{
      .name = "profiler_sessions",
      .noun = "profiler session",
      .key_columns = 4,
      .columns = {{"project", &ProfilerSession::project},
                  {"location", &ProfilerSession::location},
                  {"run", &ProfilerSession::run},
                  {"id", &ProfilerSession::id},
                  {"etag", &ProfilerSession::etag},
                  {"create_unix_ns", &ProfilerSession::create_unix_ns},
                  {"update_unix_ns", &ProfilerSession::update_unix_ns},
                  {"start_unix_ns", &ProfilerSession::start_unix_ns},
                  {"end_unix_ns", &ProfilerSession::end_unix_ns},
                  {"kind", &ProfilerSession::kind},
                  {"state", &ProfilerSession::state},
                  {"operation", &ProfilerSession::operation},
                  {"found_path", &ProfilerSession::found_path},
                  {"viewer_id", &ProfilerSession::viewer_id},
                  {"hosts", &ProfilerSession::hosts},
                  {"host_count", &ProfilerSession::host_count},
                  {"size_bytes", &ProfilerSession::size_bytes},
                  {"completeness", &ProfilerSession::completeness},
                  {"found_modified_unix_ns", &ProfilerSession::found_modified_unix_ns},
                  {"body", &ProfilerSession::body}}};
  return table;
}

template <>
const Table<MonitoredEvent>& TableOf<MonitoredEvent>() {
  static const Table<MonitoredEvent> table{
      .name = "monitored_events",
      .noun = "monitored event",
      .key_columns = 4,
      .columns = {{"project", &MonitoredEvent::project},
                  {"location", &MonitoredEvent::location},
                  {"run", &MonitoredEvent::run},
                  {"id", &MonitoredEvent::id},
                  {"etag", &MonitoredEvent::etag},
                  {"create_unix_ns", &MonitoredEvent::create_unix_ns},
                  {"update_unix_ns", &MonitoredEvent::update_unix_ns},
                  {"display_name", &MonitoredEvent::display_name},
                  {"type", &MonitoredEvent::type},
                  {"start_unix_ns", &MonitoredEvent::start_unix_ns},
                  {"end_unix_ns", &MonitoredEvent::end_unix_ns},
                  {"insight_found", &MonitoredEvent::insight_found},
                  {"body", &MonitoredEvent::body}}};
  return table;
}

template <>
const Table<Operation>& TableOf<Operation>() {
  static const Table<Operation> table{
      .name = "operations",
      .noun = "operation",
      .key_columns = 3,
      .columns = {{"project", &Operation::project},
                  {"location", &Operation::location},
                  {"id", &Operation::id},
                  {"create_unix_ns", &Operation::create_unix_ns},
                  {"end_unix_ns", &Operation::end_unix_ns},
                  {"done", &Operation::done},
                  {"verb", &Operation::verb},
                  {"target", &Operation::target},
                  {"run", &Operation::run},
                  {"cancel_requested", &Operation::cancel_requested},
                  {"error_code", &Operation::error_code},
                  {"error_message", &Operation::error_message},
                  {"response", &Operation::response},
                  {"lease_unix_ns", &Operation::lease_unix_ns},
                  {"progress", &Operation::progress}}};
  return table;
}

template <>
const Table<AnsweredRequest>& TableOf<AnsweredRequest>() {
  static const Table<AnsweredRequest> table{
      .name = "answered_requests",
      .noun = "request id",
      .key_columns = 3,
      .columns = {{"project", &AnsweredRequest::project},
                  {"location", &AnsweredRequest::location},
                  {"id", &AnsweredRequest::id},
                  {"create_unix_ns", &AnsweredRequest::create_unix_ns},
                  {"fingerprint", &AnsweredRequest::fingerprint},
                  {"operation", &AnsweredRequest::operation}}};
  return table;
}

}  // namespace strobe::catalog
