// A capture whose session appears in its place whole, and only when it is over: for sessions that
// somebody else keeps a record of.
//
//   Staging staging{.name = operation_id, .bucket_directory = cache};
//   CaptureStaged(request, staging, context, places, cancel, on_progress);  // root: "s3://b/x"
//   RemoveStaged(request.root, staging);   // after a server was killed in the middle
//
// Hosts are recorded as always, but into `<root>/.strobe-captures/<name>` (for a bucket: a folder
// of ours), where no listing looks; then the session is published (publish.h). Whoever is killed
// leaves nothing that anybody sees; what lies there longer than kStagedKeptNs is taken away by the
// next capture. A recording that could not be published is kept there, and the error says where.
// Errors: those of Capture and PublishSession; SESSION_EXISTS before anything is recorded.
#pragma once

#include <functional>
#include <string>

#include "src/capture/capture.h"
#include "src/storage/place.h"

namespace strobe::capture {

// Longer than any capture takes (MaxCaptureMs of the longest is half a day).
inline constexpr int64_t kStagedKeptNs = 24LL * 3600 * 1'000'000'000;

struct Staging {
  std::string name;              // this capture's own; a safe name
  std::string bucket_directory;  // where captures for buckets lie meanwhile
};

// `request` must name its session.
Result<CaptureResult> CaptureStaged(const CaptureRequest& request, const Staging& staging,
                                    const CaptureContext& context, storage::PlaceOpener& places,
                                    const CancelToken& cancel,
                                    const std::function<void(const CaptureProgress&)>& on_progress);

void RemoveStaged(const std::string& root, const Staging& staging);

}  // namespace strobe::capture
