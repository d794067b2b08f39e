// Who sends a request, and what they may do: made by the gate (access_control.h), asked by the
// handlers that list or look things up themselves.
//
//   if (!MaySee(request, entry)) continue;                       // lists
//   STROBE_RETURN_IF_ERROR(CheckRight(request, project, Right::kCapture));
//
// A request without a caller may do everything: the local mode, and the command line over files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/api/project_map.h"
#include "src/api/request.h"
#include "src/base/status.h"
#include "src/catalog/access_rules.h"
#include "src/xplane/session.h"

namespace strobe::api {

using catalog::Right;

enum class CallerKind : uint8_t { kAnonymous, kUser, kService };
enum class Proof : uint8_t { kNone, kCookie, kToken };

// What one share link opens.
struct LinkGrant {
  std::string id;
  std::string project;
  std::vector<std::string> sessions;  // ids
  catalog::Key run;                   // empty id: none
  std::string owner;
  int64_t expire_unix_ns = 0;
  bool anyone = false;
};

struct Caller {
  CallerKind kind = CallerKind::kAnonymous;
  Proof proof = Proof::kNone;
  std::string subject;  // "user:ada"; empty: nobody
  std::string display_name;
  catalog::Grants grants;  // narrowed by the token
  std::string credential;  // id of the token or sign-in
  std::string csrf_token;  // of callers by cookie
  bool narrowed = false;   // the token has not all of its subject's rights
  std::vector<LinkGrant> links;
  std::shared_ptr<const ProjectMap> projects;

  bool signed_in() const { return kind != CallerKind::kAnonymous; }
  std::string actor() const;  // for the audit chain
  bool LinkOpensSession(std::string_view id) const;
};

// Whether the caller may look at this session, by a role or by a link.
bool MaySee(const Request& request, const xplane::SessionEntry& entry);
// By a role only: what lists show.
bool MayList(const Request& request, const xplane::SessionEntry& entry);
bool HasRight(const Request& request, std::string_view project, Right right);
// PERMISSION_DENIED RIGHT_MISSING, or NOT_FOUND when the caller has nothing at all in the project.
Status CheckRight(const Request& request, std::string_view project, Right right);
// "user:ada" of the caller; "local" without one.
std::string ActorOf(const Request& request);

Status ProjectUnknown(std::string_view project);
Status SessionUnknown(std::string_view id);
Status OperationUnknown(std::string_view id);

}  // namespace strobe::api
