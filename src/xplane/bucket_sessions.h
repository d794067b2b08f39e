// Finding sessions in a bucket: XProf's layout of keys below a prefix.
//
//   STROBE_ASSIGN_OR_RETURN(std::vector<SessionEntry> entries,
//                           ListBucketSessions(place, fetcher, {}, cancel));
//
// As ListSessions for directories: every `**/plugins/profile/<session>/<file>` below the prefix,
// the prefix itself when it is a session or a folder of profiles, or one object. Newest first. Ids
// and paths are made of "s3://bucket/key". Objects are taken page by page and only profiles are
// kept, so that a bucket of millions of other objects costs time, not memory: 100,000 objects are
// 100 requests. A session whose upload goes on (the mark kWritingMark, not older than
// kWritingMarkNs) is left out. Errors: those of ObjectStore. Limits: ListOptions' sessions.
#pragma once

#include <memory>
#include <vector>

#include "src/base/cancel.h"
#include "src/storage/place.h"
#include "src/xplane/session.h"

namespace strobe::xplane {

// Put first into a session's folder and taken away last, by whoever writes several files into it.
inline constexpr std::string_view kWritingMark = ".strobe-writing";
// Of a writer that died.
inline constexpr int64_t kWritingMarkNs = 3600LL * 1'000'000'000;

struct BucketListing {
  std::vector<SessionEntry> sessions;
  uint64_t objects = 0;  // seen, profiles or not
  bool cut = false;      // there are more sessions than the limit
};

Result<BucketListing> ListBucketSessions(const storage::Place& place,
                                         const std::shared_ptr<storage::ObjectFetcher>& fetcher,
                                         const ListOptions& options, const Clock& clock,
                                         const CancelToken& cancel);

}  // namespace strobe::xplane
