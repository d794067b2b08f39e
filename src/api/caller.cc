#include "src/api/caller.h"

#include <fmt/format.h>

#include <algorithm>

namespace strobe::api {

std::string Caller::actor() const {
  if (!subject.empty()) return subject;
  return links.empty() ? "anonymous" : "link:" + links.front().id;
}

bool Caller::LinkOpensSession(std::string_view id) const {
  return std::any_of(links.begin(), links.end(), [id](const LinkGrant& link) {
    return std::find(link.sessions.begin(), link.sessions.end(), id) != link.sessions.end();
  });
}

bool MayList(const Request& request, const xplane::SessionEntry& entry) {
  if (request.caller == nullptr) return true;
  const Caller& caller = *request.caller;
  return Has(caller.grants.In(caller.projects->OfPath(entry.path)), Right::kView);
}

bool MaySee(const Request& request, const xplane::SessionEntry& entry) {
  return MayList(request, entry) || request.caller->LinkOpensSession(entry.id);
}

bool HasRight(const Request& request, std::string_view project, Right right) {
  return request.caller == nullptr || Has(request.caller->grants.In(project), right);
}

Status CheckRight(const Request& request, std::string_view project, Right right) {
  if (HasRight(request, project, right)) return OkStatus();
  if (request.caller->grants.In(project) == catalog::kNoRights) return ProjectUnknown(project);
  return PermissionDeniedError(
             "RIGHT_MISSING",
             fmt::format("You may not do this: it needs the right \"{}\".", RightName(right)))
      .Where("project " + std::string(project.substr(0, 128)))
      .Hint("Ask an administrator of the project for a role that has it.");
}

std::string ActorOf(const Request& request) {
  return request.caller == nullptr ? "local" : request.caller->actor();
}

Status ProjectUnknown(std::string_view project) {
  return NotFoundError("PROJECT_UNKNOWN", "There is no such project, or you have no role in it.")
      .Where(std::string(project.substr(0, 128)))
      .Hint("Ask an administrator of the project for a role.");
}

Status SessionUnknown(std::string_view id) {
  return NotFoundError("SESSION_UNKNOWN",
                       fmt::format("No session has the id \"{}\".", id.substr(0, 64)))
      .Hint("Open /api/v1/sessions for the sessions that you may see.");
}

Status OperationUnknown(std::string_view id) {
  return NotFoundError("OPERATION_UNKNOWN", "There is no such operation, or you may not see it.")
      .Where(std::string(id.substr(0, 64)));
}

}  // namespace strobe::api
