#include "src/catalog/rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/catalog/metrics.h"

namespace strobe::catalog {
namespace {

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool IsUuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const char c = text[i];
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (dash ? c != '-' : !hex) return false;
  }
  return true;
}

// Takes "word/" off the front, then a part without a slash.
bool TakePart(std::string_view* rest, std::string_view word, std::string* part) {
  if (!rest->starts_with(word)) return false;
  rest->remove_prefix(word.size());
  if (!rest->starts_with('/')) return false;
  rest->remove_prefix(1);
  const size_t end = std::min(rest->find('/'), rest->size());
  *part = rest->substr(0, end);
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return !part->empty();
}

}  // namespace

Status CheckId(std::string_view what, std::string_view id) {
  const bool fits = !id.empty() && id.size() <= kMaxIdBytes && IsLetterOrDigit(id.front()) &&
                    std::all_of(id.begin(), id.end(), [](char c) {
                      return IsLetterOrDigit(c) || c == '.' || c == '_' || c == '~' || c == '-';
                    });
  if (fits) return OkStatus();
  return InvalidArgumentError("ID_MALFORMED", fmt::format("The id of a {} is not allowed.", what))
      .Where(std::string(id.substr(0, 64)))
      .Hint(fmt::format("Take up to {} letters, digits, '.', '_', '~' and '-'; the first is a "
                        "letter or a digit.",
                        kMaxIdBytes));
}

std::string MakeUuid(Random& random) {
  const uint64_t high = (random.Next() & ~uint64_t{0xf000}) | 0x4000;
  const uint64_t low = (random.Next() & ~(uint64_t{3} << 62)) | uint64_t{2} << 62;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xffff,
                     high & 0xffff, low >> 48, low & 0xffff'ffff'ffff);
}

Status CheckEtag(std::string_view given, std::string_view current) {
  if (given.empty() || given == current) return OkStatus();
  return Status(StatusCode::kAborted, "ETAG_MISMATCH",
                "Somebody else has changed this since it was read.")
      .Where(fmt::format("etag {}", current))
      .Hint("Read it again, make the change on what is there now, and send its etag.");
}

void ApplyPhase(int64_t now_unix_ns, std::string_view phase, Run* run) {
  if (phase == "COMPLETED" && run->phase == "FAILED" &&
      now_unix_ns - run->end_unix_ns < kLateCompletedNs) {
    return;
  }
  const bool ended_before = run->phase == "COMPLETED" || run->phase == "FAILED";
  const bool ended = phase == "COMPLETED" || phase == "FAILED";
  if (!ended) {
    run->end_unix_ns = 0;
  } else if (!ended_before || run->end_unix_ns == 0) {
    // A clock that went back does not end what it has not begun.
    run->end_unix_ns = std::max(now_unix_ns, run->create_unix_ns);
  }
  run->phase = phase;
  run->state = ended ? phase : "ACTIVE";
}

std::string RunName(const Key& key) {
  return fmt::format("projects/{}/locations/{}/machineLearningRuns/{}", key.project, key.location,
                     key.run.empty() ? key.id : key.run);
}

std::string ChildName(const Key& key, std::string_view collection) {
  return fmt::format("{}/{}/{}", RunName(key), collection, key.id);
}

std::string OperationName(const Key& key) {
  return fmt::format("projects/{}/locations/{}/operations/{}", key.project, key.location, key.id);
}

bool ParseRunName(std::string_view name, Key* key) {
  std::string_view rest = name;
  return TakePart(&rest, "projects", &key->project) &&
         TakePart(&rest, "locations", &key->location) &&
         TakePart(&rest, "machineLearningRuns", &key->id) && rest.empty();
}

Status DeleteRun(Transaction& transaction, const Key& key, bool force) {
  STROBE_ASSIGN_OR_RETURN(const Run run, transaction.Get<Run>(key));
  STROBE_RETURN_IF_ERROR(
      transaction.sql()
          .Run("DELETE FROM profiler_targets WHERE project = ? AND location = ? AND run = ? AND "
               "automatic = 1",
               {key.project, key.location, key.id})
          .status());
  STROBE_ASSIGN_OR_RETURN(const int64_t targets, transaction.DeleteChildren<ProfilerTarget>(key));
  STROBE_ASSIGN_OR_RETURN(const int64_t sessions, transaction.DeleteChildren<ProfilerSession>(key));
  STROBE_ASSIGN_OR_RETURN(const int64_t events, transaction.DeleteChildren<MonitoredEvent>(key));
  // An error undoes the transaction, so nothing is gone when this refuses.
  if (!force && targets + sessions + events > 0) {
    return FailedPreconditionError(
               "RUN_HAS_CHILDREN",
               fmt::format("The run still has {} targets, {} sessions and {} events.", targets,
                           sessions, events))
        .Where(run.id)
        .Hint("Delete them first, or delete with force; profiles in storage stay in any case.");
  }
  STROBE_RETURN_IF_ERROR(DeleteMetrics(transaction, key));
  return transaction.Delete<Run>(key);
}

Operation MakeOperation(Transaction& transaction, const Key& parent, std::string_view target,
                        std::string_view verb) {
  Operation operation;
  operation.project = parent.project;
  operation.location = parent.location;
  operation.run = parent.run.empty() ? parent.id : parent.run;
  operation.create_unix_ns = transaction.clock().NowUnixNanos();
  const uint64_t high = transaction.random().Next();
  const uint64_t low = transaction.random().Next();
  operation.id =
      fmt::format("operation-{}-{:013x}-{:08x}-{:08x}", operation.create_unix_ns / 1'000'000,
                  high >> 12, low >> 32, low & 0xffff'ffff);
  operation.target = target;
  operation.verb = verb;
  return operation;
}

void Finish(int64_t now_unix_ns, std::string response_json, Operation* operation) {
  operation->done = 1;
  operation->end_unix_ns = now_unix_ns;
  operation->lease_unix_ns = 0;
  operation->response = std::move(response_json);
}

void Fail(int64_t now_unix_ns, const Status& error, Operation* operation) {
  operation->done = 1;
  operation->end_unix_ns = now_unix_ns;
  operation->lease_unix_ns = 0;
  operation->error_code = RpcCodeOf(error.code());
  operation->error_message = fmt::format("{}: {}", error.name(), error.message());
}

Result<std::vector<Operation>> LapsedOperations(Transaction& transaction, int64_t limit) {
  return transaction.Select<Operation>("done = 0 AND lease_unix_ns > 0 AND lease_unix_ns < ?",
                                       {SqlValue{transaction.clock().NowUnixNanos()}}, limit);
}

int RpcCodeOf(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return 0;
    case StatusCode::kCancelled:
      return 1;
    case StatusCode::kInvalidArgument:
      return 3;
    case StatusCode::kDeadlineExceeded:
      return 4;
    case StatusCode::kNotFound:
      return 5;
    case StatusCode::kAlreadyExists:
      return 6;
    case StatusCode::kPermissionDenied:
      return 7;
    case StatusCode::kResourceExhausted:
      return 8;
    case StatusCode::kFailedPrecondition:
      return 9;
    case StatusCode::kAborted:
      return 10;
    case StatusCode::kOutOfRange:
      return 11;
    case StatusCode::kUnimplemented:
      return 12;
    case StatusCode::kInternal:
      return 13;
    case StatusCode::kUnavailable:
      return 14;
    case StatusCode::kDataLoss:
      return 15;
    case StatusCode::kUnauthenticated:
      return 16;
  }
  return 2;
}

Result<std::optional<Operation>> FindAnswered(Transaction& transaction, const Key& parent,
                                              std::string_view request_id,
                                              std::string_view fingerprint) {
  if (request_id.empty()) return std::optional<Operation>();
  if (!IsUuid(request_id)) {
    return InvalidArgumentError("REQUEST_ID_MALFORMED", "A request id must be a UUID.")
        .Where(std::string(request_id.substr(0, 64)));
  }
  STROBE_ASSIGN_OR_RETURN(const std::optional<AnsweredRequest> answered,
                          transaction.Find<AnsweredRequest>(
                              {parent.project, parent.location, "", std::string(request_id)}));
  if (!answered) return std::optional<Operation>();
  if (answered->fingerprint != fingerprint) {
    return InvalidArgumentError("REQUEST_ID_REUSED",
                                "This request id was used for another request.")
        .Where(std::string(request_id))
        .Hint("Make a new UUID for each request; keep it only to send the same one again.");
  }
  return transaction.Find<Operation>({parent.project, parent.location, "", answered->operation});
}

Status RememberAnswered(Transaction& transaction, const Operation& operation,
                        std::string_view request_id, std::string_view fingerprint) {
  if (request_id.empty()) return OkStatus();
  AnsweredRequest request;
  request.project = operation.project;
  request.location = operation.location;
  request.id = request_id;
  request.create_unix_ns = operation.create_unix_ns;
  request.fingerprint = fingerprint;
  request.operation = operation.id;
  return transaction.Insert(request);
}

Result<int64_t> Prune(Transaction& transaction) {
  const int64_t now = transaction.clock().NowUnixNanos();
  STROBE_ASSIGN_OR_RETURN(
      const SqlRows requests,
      transaction.sql().Run("DELETE FROM answered_requests WHERE create_unix_ns < ?",
                            {SqlValue{now - kRequestIdKeptNs}}));
  STROBE_ASSIGN_OR_RETURN(
      const SqlRows operations,
      transaction.sql().Run("DELETE FROM operations WHERE done = 1 AND end_unix_ns < ?",
                            {SqlValue{now - kOperationKeptNs}}));
  return requests.changed_rows + operations.changed_rows;
}

Result<std::vector<std::string>> ProjectsOfRuns(Transaction& transaction, int64_t limit) {
  STROBE_ASSIGN_OR_RETURN(
      const SqlRows found,
      transaction.sql().Run("SELECT DISTINCT project FROM runs ORDER BY project LIMIT ?",
                            {SqlValue{limit}}));
  std::vector<std::string> projects;
  for (const std::vector<SqlValue>& row : found.rows) {
    projects.push_back(std::get<std::string>(row.front()));
  }
  return projects;
}

std::string SessionStateOf(const std::vector<std::string>& phases) {
  bool failed = false;
  bool cancelled = false;
  for (const std::string& phase : phases) {
    if (phase == "FAILED") {
      failed = true;
    } else if (phase == "CANCELLED") {
      cancelled = true;
    } else if (phase != "SUCCEEDED") {
      return "ACTIVE";
    }
  }
  if (phases.empty()) return "ACTIVE";
  if (failed) return "FAILED";
  return cancelled ? "CANCELLED" : "SUCCEEDED";
}

}  // namespace strobe::catalog
