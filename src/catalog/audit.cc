#include "src/catalog/audit.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/utf8.h"
#include "src/catalog/secret.h"

namespace strobe::catalog {
namespace {

constexpr std::string_view kHead = "audit-head";
// What is before the first record.
constexpr std::string_view kNothing = "strobe-audit-1";
constexpr int64_t kPiece = 1000;
// Lets everybody read, and one at a time append.
constexpr std::string_view kLockChain = "LOCK TABLE audit_records IN SHARE ROW EXCLUSIVE MODE";

std::string IdOf(int64_t number) { return fmt::format("{:020}", number); }

std::string HashOf(const AuditRecord& record) {
  std::string bytes;
  const std::string fields[] = {record.id,      std::to_string(record.create_unix_ns),
                                record.actor,   record.action,
                                record.object,  record.project,
                                record.outcome, std::to_string(record.http_status),
                                record.peer,    record.request_id,
                                record.detail,  record.previous_hash};
  for (const std::string& field : fields) bytes += fmt::format("{}:{}", field.size(), field);
  return Sha256Hex(bytes);
}

// What users sent, fit for a database and a terminal.
std::string Clean(std::string_view text) {
  std::string clean = ToValidUtf8(text.substr(0, kMaxAuditTextBytes));
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return clean;
}

}  // namespace

Status AppendAudit(Transaction& transaction, AuditRecord* record) {
  STROBE_ASSIGN_OR_RETURN(const std::optional<AccessSetting> head,
                          transaction.Find<AccessSetting>({"", "", "", std::string(kHead)}));
  int64_t number = 1;
  record->previous_hash = kNothing;
  if (head) {
    const size_t blank = std::min(head->value.find(' '), head->value.size());
    number = std::strtoll(head->value.c_str(), nullptr, 10) + 1;
    if (blank == head->value.size() || number < 2) {
      return DataLossError("AUDIT_DAMAGED",
                           "The end of the audit chain cannot be read, so nothing is changed.")
          .Hint("Run strobe audit verify.");
    }
    record->previous_hash = head->value.substr(blank + 1);
  }
  record->id = IdOf(number);
  record->create_unix_ns = transaction.clock().NowUnixNanos();
  for (std::string* text :
       {&record->actor, &record->action, &record->object, &record->project, &record->outcome,
        &record->peer, &record->request_id, &record->detail}) {
    *text = Clean(*text);
  }
  record->hash = HashOf(*record);
  STROBE_RETURN_IF_ERROR(transaction.Insert(*record));
  const AccessSetting next{std::string(kHead), fmt::format("{} {}", number, record->hash)};
  return head ? transaction.Update(next) : transaction.Insert(next);
}

Status WriteAudited(Catalog& catalog, AuditTrail* trail,
                    const std::function<Status(Transaction&)>& work) {
  if (trail == nullptr) return catalog.Write(work);
  const AuditRecord as_given = trail->record;
  AuditRecord record;
  STROBE_RETURN_IF_ERROR(catalog.Write([&](Transaction& transaction) -> Status {
    // First of all, because PostgreSQL looks at the data only after it: whoever appends next sees
    // this record, instead of failing on it and trying again.
    if (transaction.sql().dialect() == SqlDialect::kPostgres) {
      STROBE_RETURN_IF_ERROR(transaction.sql().Run(std::string(kLockChain), {}).status());
    }
    trail->record = as_given;
    STROBE_RETURN_IF_ERROR(work(transaction));
    record = trail->record;
    return AppendAudit(transaction, &record);
  }));
  trail->written.push_back(std::move(record));
  return OkStatus();
}

Result<AuditVerdict> VerifyAudit(Catalog& catalog, const std::string& expected_head) {
  AuditVerdict verdict;
  bool seen_expected = expected_head.empty();
  std::string previous(kNothing);
  const auto fault = [&verdict](std::string text) {
    if (verdict.whole) verdict.fault = std::move(text);
    verdict.whole = false;
  };
  std::string head_text;
  // One transaction, so that what is appended meanwhile is not taken for a fault.
  STROBE_RETURN_IF_ERROR(catalog.Read([&](Transaction& transaction) -> Status {
    verdict = AuditVerdict();
    previous = kNothing;
    seen_expected = expected_head.empty();
    STROBE_ASSIGN_OR_RETURN(const std::optional<AccessSetting> head,
                            transaction.Find<AccessSetting>({"", "", "", std::string(kHead)}));
    head_text = head ? head->value : "";
    std::string after;
    for (;;) {
      STROBE_ASSIGN_OR_RETURN(
          const std::vector<AuditRecord> piece,
          transaction.Select<AuditRecord>("id > ? ORDER BY id", {SqlValue{after}}, kPiece));
      for (const AuditRecord& record : piece) {
        ++verdict.records;
        if (record.id != IdOf(verdict.records)) {
          fault(fmt::format("record {} stands where {} must be", record.id, verdict.records));
        } else if (record.previous_hash != previous) {
          fault(fmt::format("record {} does not follow the one before it", record.id));
        } else if (record.hash != HashOf(record)) {
          fault(fmt::format("record {} was changed", record.id));
        }
        if (!verdict.whole) return OkStatus();
        previous = record.hash;
        seen_expected = seen_expected || record.hash == expected_head;
        after = record.id;
      }
      if (static_cast<int64_t>(piece.size()) < kPiece) return OkStatus();
    }
  }));
  if (!verdict.whole) return verdict;
  verdict.head = verdict.records == 0 ? "" : previous;
  const std::string wanted =
      verdict.records == 0 ? "" : fmt::format("{} {}", verdict.records, verdict.head);
  if (head_text != wanted) fault("records at the end are missing, or were put in");
  if (!seen_expected) fault("the hash that was kept elsewhere is not in the chain");
  return verdict;
}

}  // namespace strobe::catalog
