// The audit chain: what was done and what was refused, each record bound to the one before it.
//
//   AuditTrail trail{{.actor = "user:ada", .action = "mlDeleteRun", .outcome = "DONE"}};
//   STROBE_RETURN_IF_ERROR(WriteAudited(catalog, &trail, change));  // both, or neither
//   STROBE_ASSIGN_OR_RETURN(const AuditVerdict verdict, VerifyAudit(catalog));
//   if (!verdict.whole) Print(verdict.fault);
//
// `hash` is SHA-256 over the record's fields, each with its length before it, and the hash of the
// record before. A record that was edited, removed, put in or moved breaks the chain at its place;
// the newest one that is gone is missed because the number and hash of the last one are kept
// apart. Whoever can write the database can also write a new chain: keep verdict.head elsewhere
// (each record is logged too) and give it to VerifyAudit. Several servers may append at once; who
// changes something with a record waits for the others who do, so that they never meet.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/catalog/access_records.h"
#include "src/catalog/catalog.h"

namespace strobe::catalog {

// Longer texts are cut: what users send must not fill the chain.
inline constexpr size_t kMaxAuditTextBytes = 512;

// Sets id, time and hashes of `record`.
Status AppendAudit(Transaction& transaction, AuditRecord* record);

// What is to be said of one request's changes.
struct AuditTrail {
  AuditRecord record;
  // As they came into the chain: one for each change that was committed.
  std::vector<AuditRecord> written = {};
};
// As catalog.Write, with the trail's record in the same transaction: a change is never there
// without its record, nor a record without its change. `work` may still complete trail->record.
// Without a trail (nobody is told apart) only the change is written. Errors besides: AUDIT_DAMAGED,
// and then nothing was changed.
Status WriteAudited(Catalog& catalog, AuditTrail* trail,
                    const std::function<Status(Transaction&)>& work);

struct AuditVerdict {
  bool whole = true;
  std::string fault;  // which record, and what is wrong with it
  int64_t records = 0;
  std::string head;  // hash of the last
};
// Reads the whole chain in pieces. With `expected_head`, that hash must be in the chain.
Result<AuditVerdict> VerifyAudit(Catalog& catalog, const std::string& expected_head = "");

}  // namespace strobe::catalog
