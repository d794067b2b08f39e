// The body of POST /api/v1/captures, read strictly: unknown fields and wrong types are named
// errors.
//
//   STROBE_ASSIGN_OR_RETURN(capture::CaptureRequest request, ParseCaptureBody(body, roots));
//
// Errors: BODY_NOT_JSON, FIELD_UNKNOWN, FIELD_MALFORMED, ROOT_NOT_ALLOWED, and those of
// capture::CheckCaptureRequest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/capture/capture.h"

namespace strobe::api {

// `roots`: where captures may go; the first is taken when the body names none. Not empty.
Result<capture::CaptureRequest> ParseCaptureBody(std::string_view body,
                                                 const std::vector<std::string>& roots);

}  // namespace strobe::api
