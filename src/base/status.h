// Errors as values: Status and Result<T>.
//
// Every failure that comes from outside (files, network, users) is a Status that says what went
// wrong in a form that both a program and a person can use: a canonical code (mapped once to HTTP
// and to exit codes), a stable name, a message with what was expected, where it happened, and what
// to do about it.
//
//   Result<Session> OpenSession(std::string_view id) {
//     STROBE_ASSIGN_OR_RETURN(const Entry entry, index.Find(id));
//     if (entry.files.empty()) {
//       return NotFoundError("SESSION_EMPTY", "The session has no profile file.")
//           .Where(entry.path).Hint("Expected <host>.xplane.pb; check the capture's log.");
//     }
//     ...
//   }
//
// Cost: an OK status is one null pointer. Limits: no exception crosses a module; programming errors
// use STROBE_CHECK.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace strobe {

enum class StatusCode : uint8_t {
  kOk = 0,
  kCancelled,
  kInvalidArgument,
  kDeadlineExceeded,
  kNotFound,
  kAlreadyExists,
  kPermissionDenied,
  kUnauthenticated,
  kResourceExhausted,
  kFailedPrecondition,
  kAborted,
  kOutOfRange,
  kUnimplemented,
  kInternal,
  kUnavailable,
  kDataLoss,
};

// "NOT_FOUND" etc., as used on the wire.
std::string_view StatusCodeName(StatusCode code);
// The one mapping of canonical codes to HTTP status numbers.
int HttpStatusOf(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  // `name` is a stable identifier such as "XPLANE_TRUNCATED"; `message` is one sentence for people.
  Status(StatusCode code, std::string_view name, std::string message);

  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;

  bool ok() const { return detail_ == nullptr; }
  StatusCode code() const { return detail_ ? detail_->code : StatusCode::kOk; }
  std::string_view name() const { return detail_ ? std::string_view(detail_->name) : "OK"; }
  std::string_view message() const { return detail_ ? std::string_view(detail_->message) : ""; }
  std::string_view where() const { return detail_ ? std::string_view(detail_->where) : ""; }
  std::string_view hint() const { return detail_ ? std::string_view(detail_->hint) : ""; }

  // Adds the place (file, offset, plane ...) or the advice. No effect on an OK status.
  Status Where(std::string where) &&;
  Status Hint(std::string hint) &&;
  Status Where(std::string where) const&;
  Status Hint(std::string hint) const&;

  // "XPLANE_TRUNCATED: message (where). Hint" for logs and terminals.
  std::string ToString() const;

 private:
  struct Detail {
    StatusCode code;
    std::string name;
    std::string message;
    std::string where;
    std::string hint;
  };
  std::unique_ptr<Detail> detail_;
};

inline Status OkStatus() { return Status(); }
Status CancelledError(std::string_view name, std::string message);
Status InvalidArgumentError(std::string_view name, std::string message);
Status DeadlineExceededError(std::string_view name, std::string message);
Status NotFoundError(std::string_view name, std::string message);
Status AlreadyExistsError(std::string_view name, std::string message);
Status PermissionDeniedError(std::string_view name, std::string message);
Status ResourceExhaustedError(std::string_view name, std::string message);
Status FailedPreconditionError(std::string_view name, std::string message);
Status OutOfRangeError(std::string_view name, std::string message);
Status UnimplementedError(std::string_view name, std::string message);
Status InternalError(std::string_view name, std::string message);
Status UnavailableError(std::string_view name, std::string message);
Status DataLossError(std::string_view name, std::string message);
// From errno: ENOENT -> NOT_FOUND, EACCES -> PERMISSION_DENIED, ENOSPC -> RESOURCE_EXHAUSTED, else
// UNAVAILABLE.
Status ErrnoError(std::string_view name, std::string_view action, int error_number);

[[noreturn]] void CheckFailed(const char* expression, const char* file, int line);

// A programming error of ours: always checked, ends the process with the place.
#define STROBE_CHECK(expression) \
  (static_cast<bool>(expression) ? void() : ::strobe::CheckFailed(#expression, __FILE__, __LINE__))

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) {  // NOLINT: implicit by design
    STROBE_CHECK(!status_.ok());
  }

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const { return status_; }

  const T& value() const& {
    STROBE_CHECK(ok());
    return *value_;
  }
  T& value() & {
    STROBE_CHECK(ok());
    return *value_;
  }
  T&& value() && {
    STROBE_CHECK(ok());
    return std::move(*value_);
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

 private:
  std::optional<T> value_;
  Status status_;
};

#define STROBE_INTERNAL_CONCAT2(a, b) a##b
#define STROBE_INTERNAL_CONCAT(a, b) STROBE_INTERNAL_CONCAT2(a, b)

#define STROBE_RETURN_IF_ERROR(expression)                                    \
  do {                                                                        \
    if (::strobe::Status strobe_status = (expression); !strobe_status.ok()) { \
      return strobe_status;                                                   \
    }                                                                         \
  } while (false)

#define STROBE_ASSIGN_OR_RETURN(declaration, expression) \
  STROBE_INTERNAL_ASSIGN(STROBE_INTERNAL_CONCAT(strobe_result_, __LINE__), declaration, expression)
#define STROBE_INTERNAL_ASSIGN(temporary, declaration, expression) \
  auto temporary = (expression);                                   \
  if (!temporary.ok()) return temporary.status();                  \
  declaration = std::move(temporary).value()

}  // namespace strobe
