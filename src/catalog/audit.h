// The audit chain: what was done and what was refused, each record bound to the one before it.
//
//   STROBE_RETURN_IF_ERROR(AppendAudit(transaction, {.actor = "user:ada", .action =
//   "mlDeleteRun"})); STROBE_ASSIGN_OR_RETURN(const AuditVerdict verdict, VerifyAudit(catalog)); if
//   (!verdict.whole) Print(verdict.fault);
//
// `hash` is SHA-256 over the record's fields, each with its length before it, and the hash of the
// record before. A record that was edited, removed, put in or moved breaks the chain at its place;
// the newest one that is gone is missed because the number and hash of the last one are kept
// apart. Whoever can write the database can also write a new chain: keep verdict.head elsewhere
// (each record is logged too) and give it to VerifyAudit. Several servers may append at once.
#pragma once

#include <cstdint>
#include <string>

#include "src/base/status.h"
#include "src/catalog/access_records.h"
#include "src/catalog/catalog.h"

namespace strobe::catalog {

// Longer texts are cut: what users send must not fill the chain.
inline constexpr size_t kMaxAuditTextBytes = 512;

// Sets id, time and hashes of `record`.
Status AppendAudit(Transaction& transaction, AuditRecord* record);

struct AuditVerdict {
  bool whole = true;
  std::string fault;  // which record, and what is wrong with it
  int64_t records = 0;
  std::string head;  // hash of the last
};
// Reads the whole chain in pieces. With `expected_head`, that hash must be in the chain.
Result<AuditVerdict> VerifyAudit(Catalog& catalog, const std::string& expected_head = "");

}  // namespace strobe::catalog
