#include "src/storage/lazy_object.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/storage/atomic_file.h"
#include "src/storage/checksum.h"
#include "src/storage/file_descriptor.h"

namespace strobe::storage {
namespace {

constexpr uintptr_t kPageBytes = 4096;
constexpr uint64_t kVerifyStepBytes = uint64_t{1} << 20;

// Of a piece. Words, since the kernel's futex waits on words.
enum PieceState : uint32_t { kAbsent = 0, kWanted = 1, kFetching = 2, kPresent = 3, kFailed = 4 };
using Piece = std::atomic<uint32_t>;
static_assert(sizeof(Piece) == sizeof(uint32_t));

// What the signal handler sees of an object.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0};  // 0 while not in use
  std::atomic<uintptr_t> end{0};
  std::atomic<Piece*> pieces{nullptr};
  std::atomic<sem_t*> work{nullptr};
};

Slot g_slots[kMaxLazyObjects];
std::atomic<size_t> g_used_slots{0};
struct sigaction g_previous;

void FutexWait(Piece* word, uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAIT_PRIVATE, value, nullptr, nullptr,
          0);
}

void FutexWake(Piece* word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr,
          nullptr, 0);
}

// Only what a signal handler may do: atomics, sem_post, system calls.
bool WaitForPiece(uintptr_t address) {
  const size_t used = g_used_slots.load(std::memory_order_acquire);
  for (size_t i = 0; i < used; ++i) {
    Slot& slot = g_slots[i];
    const uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    const uintptr_t end = slot.end.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= end) continue;
    Piece& piece = slot.pieces.load()[(address - begin) / kPieceBytes];
    while (true) {
      uint32_t state = piece.load(std::memory_order_acquire);
      if (state == kPresent || state == kFailed) return true;  // it can be read from now on
      if (state == kAbsent && piece.compare_exchange_strong(state, kWanted)) {
        sem_post(slot.work.load());
        state = kWanted;
      }
      FutexWait(&piece, state);
    }
  }
  return false;
}

void PassOn(int signal_number, siginfo_t* info, void* context) {
  if ((g_previous.sa_flags & SA_SIGINFO) != 0 && g_previous.sa_sigaction != nullptr) {
    g_previous.sa_sigaction(signal_number, info, context);
    return;
  }
  if (g_previous.sa_handler != SIG_DFL && g_previous.sa_handler != SIG_IGN) {
    g_previous.sa_handler(signal_number);
    return;
  }
  signal(signal_number, SIG_DFL);  // the instruction runs again and ends the process
}

void HandleFault(int signal_number, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  // Only faults for want of access; a bad pointer is not ours.
  const bool ours =
      info->si_code == SEGV_ACCERR && WaitForPiece(reinterpret_cast<uintptr_t>(info->si_addr));
  errno = saved_errno;
  if (!ours) PassOn(signal_number, info, context);
}

void InstallHandler() {
  struct sigaction action = {};
  action.sa_sigaction = HandleFault;
  // Others may fault while one thread waits in here.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
  sigemptyset(&action.sa_mask);
  STROBE_CHECK(sigaction(SIGSEGV, &action, &g_previous) == 0);
}

std::optional<size_t> TakeSlot() {
  static std::once_flag installed;
  std::call_once(installed, InstallHandler);
  for (size_t i = 0; i < kMaxLazyObjects; ++i) {
    bool expected = false;
    if (g_slots[i].taken.load() || !g_slots[i].taken.compare_exchange_strong(expected, true)) {
      continue;
    }
    size_t used = g_used_slots.load();
    while (used <= i && !g_used_slots.compare_exchange_weak(used, i + 1)) {
    }
    return i;
  }
  return std::nullopt;
}

Result<FileDescriptor> MakeSparseFile(const std::string& directory, uint64_t size_bytes) {
  STROBE_RETURN_IF_ERROR(MakeDirectories(directory));
  FileDescriptor file(open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file.valid()) {
    std::string name = directory + "/" + std::string(kTemporaryPrefix) + "XXXXXX";
    file = FileDescriptor(mkostemp(name.data(), O_CLOEXEC));
    if (file.valid()) unlink(name.c_str());
  }
  if (file.valid() && ftruncate(file.get(), static_cast<off_t>(size_bytes)) == 0) return file;
  return ErrnoError("SCRATCH_NOT_WRITABLE", "Cannot make a scratch file", errno)
      .Where(directory)
      .Hint("Check the free space and permissions of the cache directory.");
}

}  // namespace

class LazyObject : public std::enable_shared_from_this<LazyObject> {
 public:
  // Does not keep the fetcher: its last holder may be one of the fetcher's own threads.
  LazyObject(const RemoteObject& object, FileDescriptor file, char* data, size_t slot)
      : object_({.store = object.store, .info = object.info, .path = object.path, .fetcher = {}}),
        fetcher_(*object.fetcher),
        file_(std::move(file)),
        data_(data),
        slot_(slot),
        count_((object_.info.size_bytes + kPieceBytes - 1) / kPieceBytes),
        pieces_(std::make_unique<Piece[]>(count_)) {
    Slot& mine = g_slots[slot_];
    mine.pieces.store(pieces_.get());
    mine.work.store(&fetcher_.work_);
    const auto address = reinterpret_cast<uintptr_t>(data_);
    mine.end.store(address + object_.info.size_bytes, std::memory_order_release);
    mine.begin.store(address, std::memory_order_release);
  }

  ~LazyObject() {
    Slot& mine = g_slots[slot_];
    mine.begin.store(0, std::memory_order_release);
    mine.end.store(0, std::memory_order_release);
    munmap(data_, object_.info.size_bytes);
    mine.taken.store(false, std::memory_order_release);
  }

  void Start() { fetcher_.Add(shared_from_this()); }
  void FetchAll() {
    fetch_all_.store(true);
    fetcher_.Wake();
  }
  void Stop() { cancel_.Cancel(); }

  std::string_view bytes() const { return {data_, object_.info.size_bytes}; }
  uint64_t kept_bytes() const { return kept_bytes_.load(); }
  bool failed() const { return failed_.load(); }
  Status failure() const {
    std::lock_guard lock(mutex_);
    return failure_;
  }

  // A piece that somebody waits for; marks it as being fetched.
  std::optional<size_t> TakeWanted() {
    for (size_t i = 0; i < count_; ++i) {
      uint32_t wanted = kWanted;
      if (pieces_[i].load(std::memory_order_acquire) == kWanted &&
          pieces_[i].compare_exchange_strong(wanted, kFetching)) {
        // Who reads here reads on.
        next_.store(i + 1);
        return i;
      }
    }
    return std::nullopt;
  }

  std::optional<size_t> TakeNext() {
    if (!fetch_all_.load() || cancel_.cancelled() || taken_.load() >= count_) return std::nullopt;
    const size_t first = next_.load();
    for (size_t step = 0; step < count_; ++step) {
      const size_t i = (first + step) % count_;
      uint32_t absent = kAbsent;
      if (pieces_[i].load(std::memory_order_relaxed) == kAbsent &&
          pieces_[i].compare_exchange_strong(absent, kFetching)) {
        next_.store(i + 1);
        return i;
      }
    }
    return std::nullopt;
  }

  // Returns how many bytes came.
  uint64_t Fetch(size_t piece) {
    taken_.fetch_add(1);
    const uint64_t offset = piece * kPieceBytes;
    const uint64_t length = std::min(kPieceBytes, object_.info.size_bytes - offset);
    Result<ReadAnswer> read = object_.store->Read(
        object_.info.key, {.offset = offset, .length = length, .if_version = object_.info.version},
        {.cancel = cancel_.token()});
    Status status = read.ok() ? OkStatus() : read.status();
    if (status.ok() && read->bytes.size() != length) status = ObjectCorrupt(object_.path);
    if (status.ok()) status = Keep(offset, read->bytes);
    if (!status.ok()) return Fail(piece, std::move(status)), 0;
    // Before anybody can read it, so that what was read has been counted.
    kept_bytes_.fetch_add(length);
    MakeReadable(offset, length);
    pieces_[piece].store(kPresent, std::memory_order_release);
    FutexWake(&pieces_[piece]);
    if (present_bytes_.fetch_add(length) + length == object_.info.size_bytes) Verify();
    return length;
  }

  // Whoever waits for this piece reads zeros.
  void Fail(size_t piece, Status status) {
    const bool cancelled = status.code() == StatusCode::kCancelled;
    if (!cancelled) {
      LogWarning("store.fetch_failed", {{"object", object_.path}, {"reason", status.ToString()}});
    }
    NoteFailure(std::move(status));
    const uint64_t offset = piece * kPieceBytes;
    MakeReadable(offset, std::min(kPieceBytes, object_.info.size_bytes - offset));
    pieces_[piece].store(kFailed, std::memory_order_release);
    FutexWake(&pieces_[piece]);
  }

 private:
  Status Keep(uint64_t offset, std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written =
          pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        return ErrnoError("SCRATCH_NOT_WRITABLE", "Cannot keep a part of the object", errno)
            .Where(object_.path)
            .Hint("Check the free space of the cache directory.");
      }
      offset += static_cast<uint64_t>(written);
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return OkStatus();
  }

  void MakeReadable(uint64_t offset, uint64_t length) const {
    const uint64_t pages = (length + kPageBytes - 1) & ~(kPageBytes - 1);
    STROBE_CHECK(mprotect(data_ + offset, pages, PROT_READ) == 0);
  }

  void NoteFailure(Status status) {
    std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = std::move(status);
    failed_.store(true);
  }

  // By reading the file, not the mapping: this thread must never wait for a piece.
  void Verify() {
    const ObjectInfo& info = object_.info;
    if (!info.crc32c && info.md5_hex.empty()) return;
    uint32_t crc = 0;
    Md5 md5;
    std::string step(kVerifyStepBytes, '\0');
    for (uint64_t at = 0; at < info.size_bytes;) {
      const ssize_t got =
          pread(file_.get(), step.data(), std::min<uint64_t>(step.size(), info.size_bytes - at),
                static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return NoteFailure(ObjectCorrupt(object_.path));
      const std::string_view part(step.data(), static_cast<size_t>(got));
      if (info.crc32c) {
        crc = Crc32c(part, crc);
      } else {
        md5.Add(part);
      }
      at += part.size();
    }
    const bool same = info.crc32c ? crc == *info.crc32c : md5.Hex() == info.md5_hex;
    if (same) return;
    LogError("store.object_corrupt", {{"object", object_.path}});
    NoteFailure(ObjectCorrupt(object_.path));
  }

  const RemoteObject object_;
  ObjectFetcher& fetcher_;
  const FileDescriptor file_;
  char* const data_;
  const size_t slot_;
  const size_t count_;
  const std::unique_ptr<Piece[]> pieces_;
  CancelSource cancel_;
  std::atomic<bool> fetch_all_{false};
  std::atomic<size_t> next_{0};
  std::atomic<size_t> taken_{0};            // pieces that were asked for
  std::atomic<uint64_t> kept_bytes_{0};     // in the file
  std::atomic<uint64_t> present_bytes_{0};  // and readable
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  Status failure_;
};

namespace {

class LazySource : public ByteSource {
 public:
  LazySource(std::shared_ptr<ObjectFetcher> fetcher, std::shared_ptr<LazyObject> object,
             FileIdentity identity)
      : fetcher_(std::move(fetcher)), object_(std::move(object)), identity_(std::move(identity)) {}
  ~LazySource() override { object_->Stop(); }

  std::string_view bytes() const override { return object_->bytes(); }
  const FileIdentity& identity() const override { return identity_; }
  Status CheckUnchanged() const override { return object_->failure(); }
  bool CutShort() const override { return object_->failed(); }
  // On the disk, but bounded like memory.
  uint64_t owned_bytes() const override { return object_->kept_bytes(); }
  void FetchAll() const { object_->FetchAll(); }

 private:
  const std::shared_ptr<ObjectFetcher> fetcher_;  // outlives what it fetches
  const std::shared_ptr<LazyObject> object_;
  const FileIdentity identity_;
};

}  // namespace

ObjectFetcher::ObjectFetcher(const Options& options) {
  STROBE_CHECK(sem_init(&work_, 0, 0) == 0);
  for (int i = 0; i < std::max(1, options.threads); ++i) {
    threads_.emplace_back([this] { Run(); });
  }
}

ObjectFetcher::~ObjectFetcher() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  for (size_t i = 0; i < threads_.size(); ++i) sem_post(&work_);
  for (std::thread& thread : threads_) thread.join();
  sem_destroy(&work_);
}

void ObjectFetcher::Add(const std::shared_ptr<LazyObject>& object) {
  std::lock_guard lock(mutex_);
  std::erase_if(objects_, [](const auto& known) { return known.expired(); });
  objects_.push_back(object);
}

void ObjectFetcher::Wake() {
  for (size_t i = 0; i < threads_.size(); ++i) sem_post(&work_);
}

ObjectFetcher::Work ObjectFetcher::Take() {
  // Let go of only after the lock: the last holder unmaps.
  std::vector<std::shared_ptr<LazyObject>> open;
  std::lock_guard lock(mutex_);
  if (stopping_) return {};
  for (const auto& known : objects_) {
    if (std::shared_ptr<LazyObject> object = known.lock()) open.push_back(std::move(object));
  }
  for (const auto& object : open) {
    if (const auto piece = object->TakeWanted()) return {object, *piece};
  }
  for (size_t step = 0; step < open.size(); ++step) {
    const auto& object = open[(next_ + step) % open.size()];
    if (const auto piece = object->TakeNext()) {
      ++next_;
      return {object, *piece};
    }
  }
  return {};
}

void ObjectFetcher::Run() {
  while (true) {
    while (sem_wait(&work_) != 0 && errno == EINTR) {
    }
    while (true) {
      const Work work = Take();
      if (work.object == nullptr) break;
      fetched_bytes_ += work.object->Fetch(work.piece);
    }
    std::lock_guard lock(mutex_);
    if (stopping_) return;
  }
}

FileIdentity IdentityOf(const RemoteObject& object) {
  FileIdentity identity;
  identity.path = object.path;
  identity.size_bytes = object.info.size_bytes;
  identity.modified_unix_ns = object.info.modified_unix_ns;
  identity.inode = Hash64(object.info.version);
  return identity;
}

void FetchAll(const ByteSource& source) {
  if (const auto* const lazy = dynamic_cast<const LazySource*>(&source)) lazy->FetchAll();
}

Result<std::shared_ptr<const ByteSource>> OpenLazyObject(const RemoteObject& object,
                                                         const std::string& scratch_directory) {
  const uint64_t size_bytes = object.info.size_bytes;
  if (size_bytes == 0) return OwnBytes("", object.path);
  STROBE_ASSIGN_OR_RETURN(FileDescriptor file, MakeSparseFile(scratch_directory, size_bytes));
  void* const data =
      mmap(nullptr, size_bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (data == MAP_FAILED) {
    return ErrnoError("FILE_NOT_READABLE", "Cannot map the object into memory", errno)
        .Where(object.path);
  }
  const std::optional<size_t> slot = TakeSlot();
  if (!slot) {
    munmap(data, size_bytes);
    return ResourceExhaustedError("TOO_MANY_OPEN_FILES",
                                  "Too many profiles of buckets are open at once.")
        .Where(object.path)
        .Hint("Close some sessions or lower the memory budget so that they are closed sooner.");
  }
  auto lazy =
      std::make_shared<LazyObject>(object, std::move(file), static_cast<char*>(data), *slot);
  lazy->Start();
  return std::shared_ptr<const ByteSource>(
      std::make_shared<LazySource>(object.fetcher, std::move(lazy), IdentityOf(object)));
}

}  // namespace strobe::storage
