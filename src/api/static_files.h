// The console's files, kept in memory with their compressed forms.
//
//   StaticFiles files(FindConsoleDirectory(option, environment, executable_directory));
//   files.Serve(request);     // a file, or index.html for the console's own addresses
//
// Loaded on first use and again when index.html changes on disk (a rebuild while the server runs).
// Files below /assets/ have their hash in their name and are immutable for the browser. `.br` and
// `.gz` files beside an asset are taken as its compressed forms, else they are made while loading.
// Limits: kMaxStaticFiles, kMaxStaticBytes. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/api/request.h"
#include "src/api/response.h"

namespace strobe::api {

// The console has some 40 files and 2 MB; more is another directory given by mistake.
inline constexpr size_t kMaxStaticFiles = 2000;
inline constexpr uint64_t kMaxStaticBytes = 64ULL << 20;

class StaticFiles {
 public:
  // Empty: there is no console, and every address answers with a page that says how to build it.
  explicit StaticFiles(std::string directory);

  const std::string& directory() const { return directory_; }
  Response Serve(const Request& request);

 private:
  struct File {
    std::string content_type;
    std::string etag;
    bool immutable = false;
    Body body;
    Body gzip_body;
    Body brotli_body;
  };
  using Files = std::map<std::string, File, std::less<>>;  // by path below the directory

  std::shared_ptr<const Files> Current();
  std::shared_ptr<const Files> Load() const;
  void AddFile(const std::string& relative, const std::string& path, Files* files) const;
  static Response FileResponse(const File& file);

  const std::string directory_;
  std::mutex mutex_;
  std::shared_ptr<const Files> files_;
  int64_t loaded_index_ns_ = 0;
};

// First that holds an index.html: the option, the environment's value, console/ beside the
// executable, ../console, ../share/strobe/console. "" when none does; an option or environment
// value that is given and holds none is an error (CONSOLE_NOT_FOUND).
Result<std::string> FindConsoleDirectory(const std::string& option, const std::string& environment,
                                         const std::string& executable_directory);

std::string_view ContentTypeOf(std::string_view path);

}  // namespace strobe::api
