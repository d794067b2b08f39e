// Runs between JSON and the catalogue's record.
//
//   STROBE_ASSIGN_OR_RETURN(Run run, MakeRun(body, key, etag, now));
//   STROBE_RETURN_IF_ERROR(UpdateRun(body, mask, etag, now, &run));
//   RunJson(run);
#pragma once

#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/catalog/resource.h"

namespace strobe::api {

inline constexpr std::string_view kListExistingLabel = "list_existing_sessions_only";

// `body` is what the client sent. Errors: BODY_NOT_JSON, FIELD_MALFORMED.
Result<catalog::Run> MakeRun(std::string_view body, const catalog::Key& key, std::string etag,
                             int64_t now_unix_ns);
// Errors besides: MASK_*, ETAG_MISMATCH, RUN_EXISTING_ONLY.
Status UpdateRun(std::string_view body, std::string_view update_mask, std::string etag,
                 int64_t now_unix_ns, catalog::Run* run);
std::string RunJson(const catalog::Run& run);
// "gs://b//a/" -> "gs://b/a", as the SDK writes paths.
std::string NormalizeStoragePath(std::string_view path);

}  // namespace strobe::api
