// Helpers of this module's tests: bytes that end exactly where an allocation ends (so that a
// sanitizer sees every read behind them), and the real profiles.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "src/storage/byte_source.h"
#include "src/xplane/profile_file.h"

namespace strobe::xplane {

class ExactBytes : public storage::ByteSource {
 public:
  explicit ExactBytes(std::string_view bytes)
      : data_(new char[bytes.size()]), size_bytes_(bytes.size()) {
    if (!bytes.empty()) std::memcpy(data_.get(), bytes.data(), bytes.size());
  }
  std::string_view bytes() const override { return {data_.get(), size_bytes_}; }
  const storage::FileIdentity& identity() const override { return identity_; }
  Status CheckUnchanged() const override { return OkStatus(); }
  uint64_t owned_bytes() const override { return size_bytes_; }

 private:
  std::unique_ptr<char[]> data_;
  size_t size_bytes_;
  storage::FileIdentity identity_;
};

inline Result<std::shared_ptr<ProfileFile>> OpenBytes(std::string_view bytes) {
  return ProfileFile::Open(std::make_shared<ExactBytes>(bytes), OpenOptions{});
}

// For bytes that must open.
inline std::shared_ptr<ProfileFile> MustOpen(std::string_view bytes) {
  Result<std::shared_ptr<ProfileFile>> file = OpenBytes(bytes);
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  return file.ok() ? *file : nullptr;
}

// $STROBE_CORPUS, else ../shared/data from the repository root; empty when there is none.
inline std::filesystem::path CorpusDirectory() {
  const char* given = std::getenv("STROBE_CORPUS");
  std::filesystem::path directory = given != nullptr ? given : "../shared/data";
  return std::filesystem::is_directory(directory / "sessions") ? directory
                                                               : std::filesystem::path();
}

// Use where a test needs the real profiles.
#define STROBE_NEED_CORPUS(directory)                                                 \
  if (directory.empty()) {                                                            \
    GTEST_SKIP() << "NOT TESTED: the real profiles are absent. Expected them at "     \
                    "../shared/data from the repository root, or at $STROBE_CORPUS."; \
  }

inline std::string ReadWholeFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

}  // namespace strobe::xplane
