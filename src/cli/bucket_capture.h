// A capture into any place: a directory at once, a bucket by way of a directory of our own.
//
//   CaptureIntoPlace(request, context, places, cancel, on_progress);      // request.root:
//   "s3://b/x"
//
// Hosts are recorded and saved as always, then the session is sent (publish.h: all of it or
// nothing). A recording that could not be sent is kept, and the error says where.
#pragma once

#include <functional>
#include <string>

#include "src/capture/capture.h"
#include "src/storage/place.h"

namespace strobe::cli {

Result<capture::CaptureResult> CaptureIntoPlace(
    const capture::CaptureRequest& request, const capture::CaptureContext& context,
    storage::PlaceOpener& places, const CancelToken& cancel,
    const std::function<void(const capture::CaptureProgress&)>& on_progress);

}  // namespace strobe::cli
