#include "src/xplane/trace_json_import.h"

#include <charconv>
#include <new>

#include "src/xplane/json_cursor.h"
#include "src/xplane/trace_event.h"
#include "src/xplane/trace_tracks.h"

namespace strobe::xplane {
namespace {

// How often a cancelled import looks up.
constexpr uint64_t kEventsBetweenChecks = 1024;

Status NotATrace(std::string_view found, uint64_t offset) {
  return InvalidArgumentError("TRACE_JSON_NOT_A_TRACE",
                              "Expected a Chrome trace: a list of events or an object with "
                              "\"traceEvents\"; found " +
                                  std::string(found) + ".")
      .Where("offset " + std::to_string(offset))
      .Hint("Give a trace written by JAX, PyTorch or a tool that exports this format.");
}

Status TruncatedTrace(uint64_t size_bytes, uint64_t events) {
  return DataLossError("TRACE_JSON_TRUNCATED", "The trace ends in the middle, after " +
                                                   std::to_string(events) + " events in " +
                                                   std::to_string(size_bytes) + " bytes.")
      .Where("offset " + std::to_string(size_bytes))
      .Hint("The file is still being written, or was cut short; capture or copy it again.");
}

class Importer {
 public:
  Importer(std::string_view json, const CancelToken& cancel)
      : json_(json), cancel_(cancel), cursor_(json), tracks_(json) {
    // A byte order mark, as some editors put it.
    for (const char mark : {'\xEF', '\xBB', '\xBF'}) (void)cursor_.Take(mark);
  }

  Result<TraceImport> Run() {
    cursor_.SkipSpace();
    Status status = OkStatus();
    if (cursor_.Take('[')) {
      status = ReadEvents();
      // Writers of plain lists may leave out the closing bracket; only a torn event is a loss.
      complete_ |= !torn_;
    } else if (cursor_.Take('{')) {
      status = ReadObject();
    } else {
      return NotATrace(cursor_.at_end() ? "an empty text" : "something else", offset());
    }
    STROBE_RETURN_IF_ERROR(status);
    TraceImport import;
    import.events = tracks_.event_count();
    if (!complete_) {
      const Status truncated = TruncatedTrace(json_.size(), import.events);
      if (import.events == 0) return truncated;
      Damage damage;
      damage.status = truncated;
      damage.offset_bytes = json_.size();
      import.damage.push_back(std::move(damage));
    }
    STROBE_ASSIGN_OR_RETURN(import.xspace, tracks_.ToXSpace(base_unix_ns_, cancel_));
    return import;
  }

 private:
  uint64_t offset() const { return cursor_.offset(); }

  Status ReadObject() {
    bool found = false;
    while (cursor_.NextElement('}')) {
      std::string_view key;
      if (!cursor_.String(&key)) {
        if (cursor_.at_end() || cursor_.peek() == '"') return OkStatus();
        return NotATrace("an object with a key that is no text", offset());
      }
      cursor_.SkipSpace();
      if (cursor_.at_end()) return OkStatus();
      if (!cursor_.Take(':')) return NotATrace("a key without a value", offset());
      cursor_.SkipSpace();
      if (key == "traceEvents" && cursor_.Take('[')) {
        found = true;
        STROBE_RETURN_IF_ERROR(ReadEvents());
        if (torn_ || cursor_.at_end()) return OkStatus();
        continue;
      }
      std::string_view value;
      if (!cursor_.Value(&value)) return OkStatus();
      if (key == "baseTimeNanoseconds") {
        int64_t base = 0;
        if (std::from_chars(value.data(), value.data() + value.size(), base).ec == std::errc()) {
          base_unix_ns_ = base;
        }
      }
    }
    complete_ = cursor_.closed();
    if (complete_ && !found) return NotATrace("an object without \"traceEvents\"", 0);
    return OkStatus();
  }

  Status ReadEvents() {
    uint64_t seen = 0;
    while (cursor_.NextElement(']')) {
      if (++seen % kEventsBetweenChecks == 0) STROBE_RETURN_IF_ERROR(cancel_.Check());
      cursor_.SkipSpace();
      const uint64_t begin = offset();
      std::string_view text;
      if (!cursor_.Value(&text)) {
        torn_ = true;
        // A bracket that closes nothing: the list cannot be followed any further.
        return OkStatus();
      }
      TraceEvent event;
      if (parser_.Parse(text, &event)) {
        tracks_.Add(event, begin);
      } else {
        tracks_.AddMalformed();
      }
    }
    return OkStatus();
  }

  const std::string_view json_;
  const CancelToken& cancel_;
  JsonCursor cursor_;
  TraceEventParser parser_;
  TraceTracks tracks_;
  int64_t base_unix_ns_ = 0;
  bool complete_ = false;
  bool torn_ = false;
};

}  // namespace

Result<TraceImport> ImportTraceJson(std::string_view json, const CancelToken& cancel) {
  try {
    return Importer(json, cancel).Run();
  } catch (const std::bad_alloc&) {
    return ResourceExhaustedError("OUT_OF_MEMORY", "The system has no memory for this trace.")
        .Hint("Give the server more memory, or open the xplane.pb of the same capture.");
  }
}

}  // namespace strobe::xplane
