// What must hold between the records, whoever changes them: ids, etags, run phases, session states,
// cascades, operations, requests sent twice.
//
//   ApplyPhase(now, "FAILED", &run);                   // stamps the end, state follows
//   STROBE_RETURN_IF_ERROR(DeleteRun(transaction, key, /*force=*/false));
//   Operation operation = MakeOperation(transaction, target, "create");
//
// Functions over records and a transaction; nothing here knows JSON or HTTP.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/catalog/catalog.h"

namespace strobe::catalog {

// Far longer than the longest id seen (64 hex digits).
inline constexpr size_t kMaxIdBytes = 200;
// SDK 1.0.0 says COMPLETED at exit after it said FAILED; within this time the failure stands.
inline constexpr int64_t kLateCompletedNs = 60'000'000'000;
// Google keeps request ids for an hour at least; a day covers clients that sleep over night.
inline constexpr int64_t kRequestIdKeptNs = 24LL * 3600 * 1'000'000'000;
inline constexpr int64_t kOperationKeptNs = 30 * kRequestIdKeptNs;
// How long a running operation is believed to live without a word of its server: a server that was
// killed is noticed within it, a disk or database that stalls for some seconds is not taken for
// one.
inline constexpr int64_t kLeaseNs = 20'000'000'000;

// Letters, digits, ".", "_", "~" and "-", the first a letter or digit. Errors: ID_MALFORMED.
Status CheckId(std::string_view what, std::string_view id);
// A random UUID (version 4).
std::string MakeUuid(Random& random);
// ABORTED ETAG_MISMATCH when `given` is not empty and differs.
Status CheckEtag(std::string_view given, std::string_view current);

// Moves a run's phase and what follows from it (state, end). A COMPLETED shortly after a FAILED is
// taken and ignored.
void ApplyPhase(int64_t now_unix_ns, std::string_view phase, Run* run);

// "projects/P/locations/L/machineLearningRuns/R" and what is below it.
std::string RunName(const Key& key);
std::string ChildName(const Key& key, std::string_view collection);
std::string OperationName(const Key& key);
// The other way; false when it is no such name. `collection` may be empty for a run.
bool ParseRunName(std::string_view name, Key* key);

// The projects that have runs, in order of their names; at most `limit`.
Result<std::vector<std::string>> ProjectsOfRuns(Transaction& transaction, int64_t limit);

// FAILED_PRECONDITION RUN_HAS_CHILDREN without `force`; profiles themselves are never touched.
Status DeleteRun(Transaction& transaction, const Key& key, bool force);

// A new operation that is not done and not stored yet.
Operation MakeOperation(Transaction& transaction, const Key& parent, std::string_view target,
                        std::string_view verb);
void Finish(int64_t now_unix_ns, std::string response_json, Operation* operation);
void Fail(int64_t now_unix_ns, const Status& error, Operation* operation);
// Operations whose server has stopped vouching for them, at most `limit`.
Result<std::vector<Operation>> LapsedOperations(Transaction& transaction, int64_t limit);
// google.rpc.Code of ours.
int RpcCodeOf(StatusCode code);

// The operation that answered the same request before; nullopt when it is new. Errors:
// REQUEST_ID_MALFORMED (a UUID is wanted), REQUEST_ID_REUSED for another request.
Result<std::optional<Operation>> FindAnswered(Transaction& transaction, const Key& parent,
                                              std::string_view request_id,
                                              std::string_view fingerprint);
Status RememberAnswered(Transaction& transaction, const Operation& operation,
                        std::string_view request_id, std::string_view fingerprint);
// Forgets old request ids and finished operations; how many went.
Result<int64_t> Prune(Transaction& transaction);

// ACTIVE while any is PENDING, ACTIVE or CANCELLING; else FAILED, CANCELLED, SUCCEEDED in this
// order of weight.
std::string SessionStateOf(const std::vector<std::string>& phases);

}  // namespace strobe::catalog
