#include "src/catalog/fields.h"

#include <string>

namespace strobe::catalog {

template <>
std::span<const Field> FieldsOf<Run>() {
  using enum FieldKind;
  static constexpr Field fields[] = {{"run_id", "id"},
                                     {"name", "id"},
                                     {"run_set", "run_set"},
                                     {"run_group", "run_set"},
                                     {"display_name", "display_name"},
                                     {"state", "state", kEnum, "STATE_"},
                                     {"run_phase", "phase", kEnum, "RUN_PHASE_"},
                                     {"region", "location"},
                                     {"orchestrator", "orchestrator", kEnum, "ORCHESTRATOR_"},
                                     {"create_time", "create_unix_ns", kTime},
                                     {"update_time", "update_unix_ns", kTime},
                                     {"end_time", "end_unix_ns", kTime},
                                     {"gcs_path", "storage_path"},
                                     {"etag", "etag"}};
  return fields;
}

template <>
std::span<const Field> FieldsOf<ProfilerTarget>() {
  using enum FieldKind;
  static constexpr Field fields[] = {{"name", "id"},
                                     {"hostname", "hostname"},
                                     {"node_index", "node_index", kInteger},
                                     {"is_master", "is_master", kBool},
                                     {"create_time", "create_unix_ns", kTime},
                                     {"etag", "etag"}};
  return fields;
}

template <>
std::span<const Field> FieldsOf<ProfilerSession>() {
  using enum FieldKind;
  static constexpr Field fields[] = {{"name", "id"},
                                     {"kind", "kind", kEnum, "KIND_"},
                                     {"state", "state", kEnum, "STATE_"},
                                     {"create_time", "create_unix_ns", kTime},
                                     {"start_time", "start_unix_ns", kTime},
                                     {"end_time", "end_unix_ns", kTime},
                                     {"host_count", "host_count", kInteger},
                                     {"size_bytes", "size_bytes", kInteger},
                                     {"completeness", "completeness"},
                                     {"etag", "etag"}};
  return fields;
}

template <>
std::span<const Field> FieldsOf<MonitoredEvent>() {
  using enum FieldKind;
  static constexpr Field fields[] = {{"name", "id"},
                                     {"display_name", "display_name"},
                                     {"type", "type", kEnum, "TYPE_"},
                                     {"start_time", "start_unix_ns", kTime},
                                     {"end_time", "end_unix_ns", kTime},
                                     {"create_time", "create_unix_ns", kTime},
                                     {"update_time", "update_unix_ns", kTime},
                                     {"analyzer_insight_found", "insight_found", kBool},
                                     {"etag", "etag"}};
  return fields;
}

template <>
std::span<const Field> FieldsOf<Operation>() {
  using enum FieldKind;
  static constexpr Field fields[] = {{"name", "id"},
                                     {"done", "done", kBool},
                                     {"verb", "verb"},
                                     {"target", "target"},
                                     {"create_time", "create_unix_ns", kTime},
                                     {"end_time", "end_unix_ns", kTime}};
  return fields;
}

const Field* FindField(std::span<const Field> fields, std::string_view name) {
  std::string snake;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      snake += '_';
      snake += static_cast<char>(c - 'A' + 'a');
    } else {
      snake += c;
    }
  }
  // Operations have their times and target below metadata.
  std::string_view wanted = snake;
  if (wanted.starts_with("metadata.")) wanted.remove_prefix(9);
  for (const Field& field : fields) {
    if (field.name == wanted) return &field;
  }
  return nullptr;
}

}  // namespace strobe::catalog
