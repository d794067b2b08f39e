// SQLite's files with faults at the write that is asked for: what a disk or a kill does to a
// commit.
//
//   SqliteFaults& faults = SqliteFaults::Register();
//   Catalog::Open({.place = path, .sqlite_vfs = SqliteFaults::kName}, clock, random);
//   faults.Arm(3, SqliteFaults::Kind::kGone);  // the third write from now, and all after it, fail
//   catalog->Write(...);
//   faults.Disarm();
//
// Counted are writes, syncs and truncations of every file. The shared memory of the write-ahead log
// is the process's own and stays as it is. For tests of one thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <cstring>

#include "src/base/status.h"

namespace strobe::catalog {

class SqliteFaults {
 public:
  static constexpr const char* kName = "strobe-faults";
  enum class Kind : uint8_t {
    kOnce,  // this one write fails; the next are as usual
    kGone,  // as if killed at it: nothing comes to the files any more
    kTorn,  // as kGone, but half of it was written
  };

  static SqliteFaults& Register() {
    static SqliteFaults faults;
    return faults;
  }
  SqliteFaults(const SqliteFaults&) = delete;
  SqliteFaults& operator=(const SqliteFaults&) = delete;

  void Arm(int64_t at, Kind kind) {
    at_ = at;
    kind_ = kind;
    writes_ = 0;
    fired_ = false;
  }
  void Disarm() { at_ = 0; }
  bool fired() const { return fired_; }
  int64_t writes() const { return writes_; }

 private:
  struct File {
    sqlite3_file base;
    sqlite3_file* real;  // behind this one, in the same memory
  };

  SqliteFaults() : real_(sqlite3_vfs_find(nullptr)), vfs_(*real_) {
    vfs_.zName = kName;
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
    vfs_.xOpen = Open;
    methods_.iVersion = 2;  // without mapping: every byte comes through xWrite
    methods_.xClose = [](sqlite3_file* f) { return Real(f)->pMethods->xClose(Real(f)); };
    methods_.xRead = [](sqlite3_file* f, void* to, int size, sqlite3_int64 at) {
      return Real(f)->pMethods->xRead(Real(f), to, size, at);
    };
    methods_.xWrite = Write;
    methods_.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) {
      if (Register().Fails()) return SQLITE_IOERR_TRUNCATE;
      return Real(f)->pMethods->xTruncate(Real(f), size);
    };
    methods_.xSync = [](sqlite3_file* f, int flags) {
      if (Register().Fails()) return SQLITE_IOERR_FSYNC;
      return Real(f)->pMethods->xSync(Real(f), flags);
    };
    methods_.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
      return Real(f)->pMethods->xFileSize(Real(f), size);
    };
    methods_.xLock = [](sqlite3_file* f, int lock) {
      return Real(f)->pMethods->xLock(Real(f), lock);
    };
    methods_.xUnlock = [](sqlite3_file* f, int lock) {
      return Real(f)->pMethods->xUnlock(Real(f), lock);
    };
    methods_.xCheckReservedLock = [](sqlite3_file* f, int* held) {
      return Real(f)->pMethods->xCheckReservedLock(Real(f), held);
    };
    methods_.xFileControl = [](sqlite3_file* f, int what, void* with) {
      return Real(f)->pMethods->xFileControl(Real(f), what, with);
    };
    methods_.xSectorSize = [](sqlite3_file* f) { return Real(f)->pMethods->xSectorSize(Real(f)); };
    methods_.xDeviceCharacteristics = [](sqlite3_file* f) {
      return Real(f)->pMethods->xDeviceCharacteristics(Real(f));
    };
    methods_.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** to) {
      return Real(f)->pMethods->xShmMap(Real(f), page, size, extend, to);
    };
    methods_.xShmLock = [](sqlite3_file* f, int offset, int count, int flags) {
      return Real(f)->pMethods->xShmLock(Real(f), offset, count, flags);
    };
    methods_.xShmBarrier = [](sqlite3_file* f) { Real(f)->pMethods->xShmBarrier(Real(f)); };
    methods_.xShmUnmap = [](sqlite3_file* f, int remove) {
      return Real(f)->pMethods->xShmUnmap(Real(f), remove);
    };
    STROBE_CHECK(sqlite3_vfs_register(&vfs_, /*makeDflt=*/0) == SQLITE_OK);
  }

  static sqlite3_file* Real(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real; }
  static int Open(sqlite3_vfs* /*self*/, sqlite3_filename name, sqlite3_file* file, int flags,
                  int* out_flags) {
    auto* mine = reinterpret_cast<File*>(file);
    mine->real = reinterpret_cast<sqlite3_file*>(mine + 1);
    std::memset(mine->real, 0, static_cast<size_t>(Register().real_->szOsFile));
    const int code = Register().real_->xOpen(Register().real_, name, mine->real, flags, out_flags);
    mine->base.pMethods = code == SQLITE_OK ? &Register().methods_ : nullptr;
    return code;
  }
  static int Write(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
    SqliteFaults& faults = Register();
    const bool was_fired = faults.fired_;
    if (!faults.Fails()) return Real(file)->pMethods->xWrite(Real(file), from, size, at);
    if (faults.kind_ == Kind::kTorn && !was_fired) {
      (void)Real(file)->pMethods->xWrite(Real(file), from, size / 2, at);
    }
    return SQLITE_IOERR_WRITE;
  }
  bool Fails() {
    if (at_ == 0) return false;
    ++writes_;
    if (writes_ < at_ || (kind_ == Kind::kOnce && writes_ > at_)) return false;
    fired_ = true;
    return true;
  }

  sqlite3_vfs* const real_;
  sqlite3_vfs vfs_;
  sqlite3_io_methods methods_ = {};
  int64_t at_ = 0;  // 0: no faults
  Kind kind_ = Kind::kOnce;
  int64_t writes_ = 0;
  bool fired_ = false;
};

}  // namespace strobe::catalog
