// A session that we have just written, as the list knows it.
//
//   const std::string id = FindSessionId(*context->engine, result.session_path);
//
// Cost: one walk of the roots; of a bucket only the session's folder is listed.
#pragma once

#include <string>

#include "src/engine/engine.h"

namespace strobe::api {

// The id under which the list has the new session; empty when it does not show it.
std::string FindSessionId(engine::Engine& engine, const std::string& session_path);

}  // namespace strobe::api
