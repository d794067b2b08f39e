// An object of a bucket as a ByteSource: its bytes are fetched when they are first looked at, and,
// when somebody says FetchAll, all of them in the background while the first are already being
// read.
//
//   auto fetcher = std::make_shared<ObjectFetcher>(ObjectFetcher::Options());
//   STROBE_ASSIGN_OR_RETURN(std::shared_ptr<const ByteSource> source,
//                           OpenLazyObject({store, info, "s3://b/k", fetcher}, scratch_directory));
//   Parse(source->bytes());            // waits at the first touch of each piece, by page fault
//
// How: the bytes lie in a file without a name in the scratch directory (as much of it as was
// fetched), mapped without access. A touch raises SIGSEGV; our handler, which takes only addresses
// of such mappings, asks for the piece and sleeps until it is there. Pieces that are waited for go
// first, then the rest in order from there on; kPieceBytes each, on the fetcher's threads. What
// cannot be fetched reads as zeros and CheckUnchanged says why for ever, as with a file that was
// cut short. An object that is fetched whole is compared with the store's checksum
// (OBJECT_CORRUPT).
//
// Never hand such bytes to a system call before they were touched: the kernel fails with EFAULT
// instead of waiting. A thread that waits cannot be cancelled; the store's deadlines end its
// waiting. Limits: kMaxLazyObjects at once. Thread-safe.
#pragma once

#include <semaphore.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "src/storage/byte_source.h"
#include "src/storage/object_store.h"

namespace strobe::storage {

// Small enough that a look at one line does not wait long, large enough that requests do not count.
inline constexpr uint64_t kPieceBytes = uint64_t{2} << 20;
// A session of 256 hosts in each of several tabs.
inline constexpr size_t kMaxLazyObjects = 4096;

class LazyObject;

// The threads that fetch, shared by all objects.
class ObjectFetcher {
 public:
  struct Options {
    // As many pieces on their way at once: 16 MB, more than a link of 10 Gbit/s holds in 10 ms.
    int threads = 8;
  };
  explicit ObjectFetcher(const Options& options);
  ~ObjectFetcher();  // after the last source of it
  ObjectFetcher(const ObjectFetcher&) = delete;
  ObjectFetcher& operator=(const ObjectFetcher&) = delete;

  uint64_t fetched_bytes() const { return fetched_bytes_.load(); }

 private:
  friend class LazyObject;
  struct Work {
    std::shared_ptr<LazyObject> object;
    size_t piece = 0;
  };
  void Add(const std::shared_ptr<LazyObject>& object);
  void Wake();
  void Run();
  Work Take();

  std::mutex mutex_;
  std::vector<std::weak_ptr<LazyObject>> objects_;
  size_t next_ = 0;  // whose turn it is in fetching what nobody waits for
  sem_t work_;
  bool stopping_ = false;
  std::atomic<uint64_t> fetched_bytes_{0};
  std::vector<std::thread> threads_;
};

// What stands for a file that is an object of a bucket.
struct RemoteObject {
  std::shared_ptr<ObjectStore> store;
  ObjectInfo info;
  std::string path;  // "s3://bucket/key"
  std::shared_ptr<ObjectFetcher> fetcher;
};

// Size, time and path of the object; its version stands in `inode`.
FileIdentity IdentityOf(const RemoteObject& object);
// Nothing is asked of the store here. Errors: TOO_MANY_OPEN_FILES, SCRATCH_NOT_WRITABLE.
Result<std::shared_ptr<const ByteSource>> OpenLazyObject(const RemoteObject& object,
                                                         const std::string& scratch_directory);

// All of it will be read: brings what is not here in the background. Nothing for other sources.
void FetchAll(const ByteSource& source);

}  // namespace strobe::storage
