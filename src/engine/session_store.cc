#include "src/engine/session_store.h"

#include "src/base/hash.h"
#include "src/base/log.h"

namespace strobe::engine {
namespace {

uint64_t FingerprintOf(const xplane::SessionEntry& entry) {
  std::string text;
  for (const xplane::SessionFile& file : entry.files) {
    text += file.path + '\0' + std::to_string(file.size_bytes) + '\0' +
            std::to_string(file.modified_unix_ns) + '\0';
  }
  return Hash64(text);
}

}  // namespace

std::shared_ptr<SessionState> SessionStore::Find(const std::string& id,
                                                 const std::string& version) {
  std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id);
  if (found == by_id_.end() || (*found->second)->version() != version) return nullptr;
  sessions_.splice(sessions_.begin(), sessions_, found->second);
  return *found->second;
}

void SessionStore::Insert(std::shared_ptr<SessionState> session) {
  std::shared_ptr<SessionState> replaced;  // freed after the lock
  std::lock_guard lock(mutex_);
  const std::string& id = session->entry().id;
  if (const auto old = by_id_.find(id); old != by_id_.end()) {
    replaced = *old->second;
    replaced->StopLoading();
    sessions_.erase(old->second);
  }
  sessions_.push_front(std::move(session));
  by_id_[id] = sessions_.begin();
}

void SessionStore::Remove(const std::shared_ptr<SessionState>& session) {
  std::shared_ptr<SessionState> removed;  // freed after the lock
  std::lock_guard lock(mutex_);
  const auto found = by_id_.find(session->entry().id);
  if (found == by_id_.end() || *found->second != session) return;
  removed = *found->second;
  removed->StopLoading();
  sessions_.erase(found->second);
  by_id_.erase(found);
}

bool SessionStore::MakeRoom(uint64_t other_bytes) {
  Sessions evicted;  // freed after the lock
  std::lock_guard lock(mutex_);
  uint64_t total = other_bytes;
  for (const auto& session : sessions_) total += session->resident_bytes();
  // What tools worked out costs less to make again than a session costs to open.
  for (auto at = sessions_.rbegin(); total > budget_bytes_ && at != sessions_.rend(); ++at) {
    total -= std::min(total, (*at)->DropToolInputs());
  }
  while (total > budget_bytes_ && sessions_.size() > 1) {
    const std::shared_ptr<SessionState>& oldest = sessions_.back();
    const auto [state, reason] = oldest->Judge();
    RememberLocked(oldest->entry(), state, reason);
    oldest->StopLoading();
    const uint64_t freed = oldest->resident_bytes();
    total -= std::min(total, freed);
    LogInfo("engine.session_evicted",
            {{"session", oldest->entry().id}, {"freed_bytes", freed}, {"left_bytes", total}});
    by_id_.erase(oldest->entry().id);
    evicted.splice(evicted.begin(), sessions_, std::prev(sessions_.end()));
  }
  return total <= budget_bytes_;
}

void SessionStore::Clear() {
  Sessions cleared;
  std::lock_guard lock(mutex_);
  for (const auto& session : sessions_) session->StopLoading();
  by_id_.clear();
  cleared.swap(sessions_);
}

void SessionStore::Remember(const xplane::SessionEntry& entry, xplane::CompletenessState state,
                            std::string reason) {
  std::lock_guard lock(mutex_);
  RememberLocked(entry, state, std::move(reason));
}

void SessionStore::RememberLocked(const xplane::SessionEntry& entry,
                                  xplane::CompletenessState state, std::string reason) {
  if (state == xplane::CompletenessState::kUnread) return;
  if (verdicts_.size() >= kMaxVerdicts && !verdicts_.contains(entry.id)) verdicts_.clear();
  verdicts_[entry.id] = {FingerprintOf(entry), state, std::move(reason)};
}

std::optional<SessionStore::Verdict> SessionStore::VerdictOf(const xplane::SessionEntry& entry) {
  std::shared_ptr<SessionState> open;
  std::optional<Verdict> remembered;
  {
    std::lock_guard lock(mutex_);
    if (const auto found = by_id_.find(entry.id); found != by_id_.end()) open = *found->second;
    const auto known = verdicts_.find(entry.id);
    if (open == nullptr && known == verdicts_.end()) return std::nullopt;
    if (known != verdicts_.end()) remembered = known->second;
  }
  const uint64_t fingerprint = FingerprintOf(entry);
  if (open != nullptr && FingerprintOf(open->entry()) == fingerprint) {
    auto [state, reason] = open->Judge();
    return Verdict{fingerprint, state, std::move(reason)};
  }
  if (remembered && remembered->fingerprint == fingerprint) return remembered;
  return std::nullopt;
}

uint64_t SessionStore::count() const {
  std::lock_guard lock(mutex_);
  return sessions_.size();
}

uint64_t SessionStore::resident_bytes() const {
  std::lock_guard lock(mutex_);
  uint64_t total = 0;
  for (const auto& session : sessions_) total += session->resident_bytes();
  return total;
}

}  // namespace strobe::engine
