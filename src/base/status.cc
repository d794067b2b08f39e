#include "src/base/status.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace strobe {

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "OK";
    case StatusCode::kCancelled:
      return "CANCELLED";
    case StatusCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case StatusCode::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case StatusCode::kNotFound:
      return "NOT_FOUND";
    case StatusCode::kAlreadyExists:
      return "ALREADY_EXISTS";
    case StatusCode::kPermissionDenied:
      return "PERMISSION_DENIED";
    case StatusCode::kUnauthenticated:
      return "UNAUTHENTICATED";
    case StatusCode::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case StatusCode::kFailedPrecondition:
      return "FAILED_PRECONDITION";
    case StatusCode::kAborted:
      return "ABORTED";
    case StatusCode::kOutOfRange:
      return "OUT_OF_RANGE";
    case StatusCode::kUnimplemented:
      return "UNIMPLEMENTED";
    case StatusCode::kInternal:
      return "INTERNAL";
    case StatusCode::kUnavailable:
      return "UNAVAILABLE";
    case StatusCode::kDataLoss:
      return "DATA_LOSS";
  }
  return "UNKNOWN";
}

int HttpStatusOf(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return 200;
    case StatusCode::kCancelled:
      return 499;
    case StatusCode::kInvalidArgument:
      return 400;
    case StatusCode::kDeadlineExceeded:
      return 504;
    case StatusCode::kNotFound:
      return 404;
    case StatusCode::kAlreadyExists:
      return 409;
    case StatusCode::kPermissionDenied:
      return 403;
    case StatusCode::kUnauthenticated:
      return 401;
    case StatusCode::kResourceExhausted:
      return 429;
    case StatusCode::kFailedPrecondition:
      return 409;
    case StatusCode::kAborted:
      return 409;
    case StatusCode::kOutOfRange:
      return 400;
    case StatusCode::kUnimplemented:
      return 501;
    case StatusCode::kInternal:
      return 500;
    case StatusCode::kUnavailable:
      return 503;
    case StatusCode::kDataLoss:
      return 422;
  }
  return 500;
}

Status::Status(StatusCode code, std::string_view name, std::string message) {
  STROBE_CHECK(code != StatusCode::kOk);
  detail_ = std::make_unique<Detail>(Detail{code, std::string(name), std::move(message), "", ""});
}

Status::Status(const Status& other)
    : detail_(other.detail_ ? std::make_unique<Detail>(*other.detail_) : nullptr) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) detail_ = other.detail_ ? std::make_unique<Detail>(*other.detail_) : nullptr;
  return *this;
}

Status Status::Where(std::string where) && {
  if (detail_) detail_->where = std::move(where);
  return std::move(*this);
}

Status Status::Hint(std::string hint) && {
  if (detail_) detail_->hint = std::move(hint);
  return std::move(*this);
}

Status Status::Where(std::string where) const& { return Status(*this).Where(std::move(where)); }
Status Status::Hint(std::string hint) const& { return Status(*this).Hint(std::move(hint)); }

std::string Status::ToString() const {
  if (ok()) return "OK";
  std::string text = detail_->name + ": " + detail_->message;
  if (!detail_->where.empty()) text += " (" + detail_->where + ")";
  if (!detail_->hint.empty()) text += " " + detail_->hint;
  return text;
}

Status CancelledError(std::string_view name, std::string message) {
  return Status(StatusCode::kCancelled, name, std::move(message));
}
Status InvalidArgumentError(std::string_view name, std::string message) {
  return Status(StatusCode::kInvalidArgument, name, std::move(message));
}
Status DeadlineExceededError(std::string_view name, std::string message) {
  return Status(StatusCode::kDeadlineExceeded, name, std::move(message));
}
Status NotFoundError(std::string_view name, std::string message) {
  return Status(StatusCode::kNotFound, name, std::move(message));
}
Status AlreadyExistsError(std::string_view name, std::string message) {
  return Status(StatusCode::kAlreadyExists, name, std::move(message));
}
Status PermissionDeniedError(std::string_view name, std::string message) {
  return Status(StatusCode::kPermissionDenied, name, std::move(message));
}
Status ResourceExhaustedError(std::string_view name, std::string message) {
  return Status(StatusCode::kResourceExhausted, name, std::move(message));
}
Status FailedPreconditionError(std::string_view name, std::string message) {
  return Status(StatusCode::kFailedPrecondition, name, std::move(message));
}
Status OutOfRangeError(std::string_view name, std::string message) {
  return Status(StatusCode::kOutOfRange, name, std::move(message));
}
Status UnimplementedError(std::string_view name, std::string message) {
  return Status(StatusCode::kUnimplemented, name, std::move(message));
}
Status InternalError(std::string_view name, std::string message) {
  return Status(StatusCode::kInternal, name, std::move(message));
}
Status UnavailableError(std::string_view name, std::string message) {
  return Status(StatusCode::kUnavailable, name, std::move(message));
}
Status DataLossError(std::string_view name, std::string message) {
  return Status(StatusCode::kDataLoss, name, std::move(message));
}

Status ErrnoError(std::string_view name, std::string_view action, int error_number) {
  StatusCode code = StatusCode::kUnavailable;
  if (error_number == ENOENT || error_number == ENOTDIR) code = StatusCode::kNotFound;
  if (error_number == EACCES || error_number == EPERM || error_number == EROFS) {
    code = StatusCode::kPermissionDenied;
  }
  if (error_number == ENOSPC || error_number == EMFILE || error_number == ENOMEM) {
    code = StatusCode::kResourceExhausted;
  }
  if (error_number == EEXIST) code = StatusCode::kAlreadyExists;
  char buffer[128] = {};
  const char* text = strerror_r(error_number, buffer, sizeof(buffer));
  return Status(code, name, std::string(action) + ": " + text + ".");
}

void CheckFailed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "strobe: internal check failed: %s at %s:%d\n", expression, file, line);
  std::abort();
}

}  // namespace strobe
