// The opened sessions, least recently used first out, within the memory budget.
//
//   SessionStore store(budget_bytes);
//   store.Insert(session);                     // replaces an older version of the same session
//   if (auto session = store.Find(id, version)) ...
//   const bool fits = store.MakeRoom(extra_bytes);
//
// Evicting stops the session's background work and lets go of it; requests that still hold it
// finish. The most recently used one always stays. What was learnt of a session's completeness is
// remembered after it is gone. Thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "src/engine/opened_session.h"

namespace strobe::engine {

class SessionStore {
 public:
  // Verdicts remembered of sessions that are no longer open: some 100 bytes each.
  static constexpr size_t kMaxVerdicts = 100'000;
  struct Verdict {
    uint64_t fingerprint = 0;  // of the files it was given for
    xplane::CompletenessState state = xplane::CompletenessState::kUnread;
    std::string reason;
  };

  explicit SessionStore(uint64_t budget_bytes) : budget_bytes_(budget_bytes) {}

  std::shared_ptr<SessionState> Find(const std::string& id, const std::string& version);
  void Insert(std::shared_ptr<SessionState> session);
  // Lets go of this session, unless another has taken its place.
  void Remove(const std::shared_ptr<SessionState>& session);
  // Lets go of what tools worked out, then of sessions, until they and `other_bytes` fit. False when the last one alone does not.
  bool MakeRoom(uint64_t other_bytes);
  void Clear();

  void Remember(const xplane::SessionEntry& entry, xplane::CompletenessState state,
                std::string reason);
  // Of an open session or a remembered one, when it was given for these very files.
  std::optional<Verdict> VerdictOf(const xplane::SessionEntry& entry);

  uint64_t count() const;
  uint64_t resident_bytes() const;

 private:
  using Sessions = std::list<std::shared_ptr<SessionState>>;
  void RememberLocked(const xplane::SessionEntry& entry, xplane::CompletenessState state,
                      std::string reason);

  const uint64_t budget_bytes_;
  mutable std::mutex mutex_;
  Sessions sessions_;  // most recently used first
  std::unordered_map<std::string, Sessions::iterator> by_id_;
  std::unordered_map<std::string, Verdict> verdicts_;
};

}  // namespace strobe::engine
