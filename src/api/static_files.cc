#include "src/api/static_files.h"

#include <brotli/encode.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "src/api/finish.h"
#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/wire/compress.h"

namespace strobe::api {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBaseTag = "<base href=\"/\"";
constexpr std::string_view kPrefixedBaseTag = "<base href=\"/data/plugin/profile/\"";
// Fast enough to do while loading, and near the best ratio.
constexpr int kBrotliQuality = 6;

constexpr std::string_view kNoConsolePage =
    "<!doctype html>\n<html lang=\"en\"><head><meta "
    "charset=\"utf-8\"><title>Strobe</title></head>\n"
    "<body><h1>Strobe is running, but its console was not built</h1>\n"
    "<p>Build it with <code>npm ci &amp;&amp; npm run build</code> in the folder <code>web</code>, "
    "or start the server with <code>--console-dir DIR</code>.</p>\n"
    "<p>The profiles are at <a href=\"/api/v1/sessions\">/api/v1/sessions</a>; "
    "<a href=\"/api/v1/openapi.json\">/api/v1/openapi.json</a> describes all addresses.</p>\n"
    "</body></html>\n";

int64_t ModifiedNanos(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return 0;
  return info.st_mtim.tv_sec * int64_t{1'000'000'000} + info.st_mtim.tv_nsec;
}

bool ReadFile(const std::string& path, std::string* out) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  out->assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return true;
}

Body PackBrotli(const std::string& bytes) {
  std::string out(BrotliEncoderMaxCompressedSize(bytes.size()) + 64, '\0');
  size_t size = out.size();
  if (BrotliEncoderCompress(kBrotliQuality, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, bytes.size(),
                            reinterpret_cast<const uint8_t*>(bytes.data()), &size,
                            reinterpret_cast<uint8_t*>(out.data())) == BROTLI_FALSE) {
    return nullptr;
  }
  out.resize(size);
  return std::make_shared<const std::string>(std::move(out));
}

bool WorthPacking(std::string_view type) {
  return type.starts_with("text/") || type.starts_with("application/json") ||
         type.starts_with("image/svg") || type.starts_with("application/wasm");
}

bool HasDotInLastPart(std::string_view path) {
  return path.substr(path.rfind('/') + 1).find('.') != std::string_view::npos;
}

Response HtmlPage(std::string_view html, int status) {
  Response response;
  response.status = status;
  response.content_type = "text/html; charset=utf-8";
  response.body = std::make_shared<const std::string>(html);
  return response;
}

}  // namespace

std::string_view ContentTypeOf(std::string_view path) {
  using Entry = std::pair<std::string_view, std::string_view>;
  static constexpr std::array kTypes = {
      Entry{".html", "text/html; charset=utf-8"},
      Entry{".js", "text/javascript; charset=utf-8"},
      Entry{".mjs", "text/javascript; charset=utf-8"},
      Entry{".css", "text/css; charset=utf-8"},
      Entry{".svg", "image/svg+xml"},
      Entry{".png", "image/png"},
      Entry{".ico", "image/x-icon"},
      Entry{".woff2", "font/woff2"},
      Entry{".json", "application/json"},
      Entry{".map", "application/json"},
      Entry{".webmanifest", "application/manifest+json"},
      Entry{".wasm", "application/wasm"},
      Entry{".txt", "text/plain; charset=utf-8"},
  };
  for (const auto& [extension, type] : kTypes) {
    if (path.ends_with(extension)) return type;
  }
  return "application/octet-stream";
}

StaticFiles::StaticFiles(std::string directory) : directory_(std::move(directory)) {}

void StaticFiles::AddFile(const std::string& relative, const std::string& path,
                          Files* files) const {
  std::string bytes;
  if (!ReadFile(path, &bytes)) {
    LogWarning("console.file_not_readable", {{"file", path}});
    return;
  }
  File file;
  file.content_type = std::string(ContentTypeOf(relative));
  file.etag = ToHex64(Hash64(bytes));
  file.immutable = relative.starts_with("assets/");
  std::string packed;
  if (ReadFile(path + ".gz", &packed)) {
    file.gzip_body = std::make_shared<const std::string>(std::move(packed));
  } else if (WorthPacking(file.content_type) && bytes.size() > kMinCompressedBytes) {
    file.gzip_body = std::make_shared<const std::string>(wire::GzipCompress(bytes));
  }
  if (ReadFile(path + ".br", &packed)) {
    file.brotli_body = std::make_shared<const std::string>(std::move(packed));
  } else if (WorthPacking(file.content_type) && bytes.size() > kMinCompressedBytes) {
    file.brotli_body = PackBrotli(bytes);
  }
  file.body = std::make_shared<const std::string>(std::move(bytes));
  files->emplace(relative, std::move(file));
}

std::shared_ptr<const StaticFiles::Files> StaticFiles::Load() const {
  auto files = std::make_shared<Files>();
  uint64_t total_bytes = 0;
  std::error_code error;
  fs::recursive_directory_iterator walk(directory_, error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    const std::string extension = walk->path().extension().string();
    if (!walk->is_regular_file(error) || extension == ".gz" || extension == ".br") continue;
    total_bytes += walk->file_size(error);
    if (files->size() >= kMaxStaticFiles || total_bytes > kMaxStaticBytes) {
      LogWarning("console.too_large", {{"directory", directory_}});
      break;
    }
    AddFile(walk->path().lexically_relative(directory_).generic_string(), walk->path().string(),
            files.get());
  }
  LogInfo("console.loaded",
          {{"directory", directory_}, {"files", files->size()}, {"bytes", total_bytes}});
  return files;
}

std::shared_ptr<const StaticFiles::Files> StaticFiles::Current() {
  const int64_t index_ns = ModifiedNanos(directory_ + "/index.html");
  const std::lock_guard lock(mutex_);
  // While a build rewrites the directory there is no index.html: what we have stays.
  if (files_ == nullptr || (index_ns != 0 && index_ns != loaded_index_ns_)) {
    files_ = Load();
    loaded_index_ns_ = index_ns;
  }
  return files_;
}

Response StaticFiles::FileResponse(const File& file) {
  Response response;
  response.content_type = file.content_type;
  response.body = file.body;
  response.gzip_body = file.gzip_body;
  response.brotli_body = file.brotli_body;
  response.etag = file.etag;
  response.revalidate = true;
  response.ranges = true;
  response.cache_control = file.immutable ? "public, max-age=31536000, immutable" : "no-cache";
  return response;
}

Response StaticFiles::Serve(const Request& request) {
  if (directory_.empty()) return HtmlPage(kNoConsolePage, request.segments.empty() ? 200 : 404);
  const std::shared_ptr<const Files> files = Current();
  std::string relative;
  for (const std::string& segment : request.segments) {
    if (!relative.empty()) relative += '/';
    relative += segment;
  }
  if (relative != "index.html") {
    const auto found = files->find(relative);
    if (found != files->end()) return FileResponse(found->second);
  }
  // The console's own addresses are made in the browser; a name with a dot is a file we lack.
  if (HasDotInLastPart(relative) && relative != "index.html" && !relative.starts_with("s/")) {
    return ErrorResponse(NotFoundError("FILE_UNKNOWN", "The console has no such file.")
                             .Where(request.path.substr(0, 256)),
                         request.request_id);
  }
  const auto index = files->find("index.html");
  if (index == files->end()) return HtmlPage(kNoConsolePage, 404);
  const std::string& html = *index->second.body;
  const size_t base = html.find(kBaseTag);
  if (!request.below_xprof_prefix || base == std::string::npos) return FileResponse(index->second);
  std::string prefixed = html;
  prefixed.replace(base, kBaseTag.size(), kPrefixedBaseTag);
  Response response = HtmlPage(prefixed, 200);
  response.revalidate = true;
  return response;
}

Result<std::string> FindConsoleDirectory(const std::string& option, const std::string& environment,
                                         const std::string& executable_directory) {
  const auto holds_console = [](const std::string& directory) {
    return ModifiedNanos(directory + "/index.html") != 0;
  };
  for (const auto& [source, value] :
       {std::pair<std::string_view, std::string>{"--console-dir", option},
        std::pair<std::string_view, std::string>{"STROBE_CONSOLE_DIR", environment}}) {
    if (value.empty()) continue;
    if (holds_console(value)) return value;
    return NotFoundError("CONSOLE_NOT_FOUND",
                         fmt::format("The directory given by {} holds no index.html.", source))
        .Where(value)
        .Hint("Build the console into it, or leave the setting out.");
  }
  if (executable_directory.empty()) return std::string();
  for (const std::string_view place : {"/console", "/../console", "/../share/strobe/console"}) {
    const std::string directory = executable_directory + std::string(place);
    if (holds_console(directory)) return directory;
  }
  return std::string();
}

}  // namespace strobe::api
