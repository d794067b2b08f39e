// A directory for one test, removed with everything in it.
//
//   const TestDirectory directory;
//   directory.Write("a/b.txt", "text");          // makes a/ too
//   Open(directory.path() + "/a/b.txt");
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace strobe::storage {

class TestDirectory {
 public:
  TestDirectory() {
    std::string name = std::filesystem::temp_directory_path().string() + "/strobe-test-XXXXXX";
    STROBE_CHECK(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;
  ~TestDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string Write(const std::string& name, std::string_view bytes) const {
    const std::string path = path_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    STROBE_CHECK(file.good());
    return path;
  }
  static std::string Read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    STROBE_CHECK(file.good());
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

 private:
  std::string path_;
};

}  // namespace strobe::storage
