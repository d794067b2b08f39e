// What the tests of whole captures share: a directory, a request, and what was shown on the way.
//
//   class CaptureTest : public CaptureFixture {};
//   TEST_F(CaptureTest, SavesWhatCame) { Run(RequestFor({server.target()})); }
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "src/capture/capture.h"
#include "src/storage/test_directory.h"

namespace strobe::capture {

class CaptureFixture : public ::testing::Test {
 protected:
  CaptureRequest RequestFor(std::vector<std::string> targets) {
    CaptureRequest request;
    request.targets = std::move(targets);
    request.duration_ms = 100;
    request.root = directory_.path();
    request.connect_timeout_ms = 20'000;
    return request;
  }
  Result<CaptureResult> Run(const CaptureRequest& request) {
    return Capture(request, context_, cancel_.token(), [this](const CaptureProgress& progress) {
      last_ = progress;
      ++reports_;
      for (const TargetProgress& target : progress.targets) {
        seen_.emplace(std::string(TargetStateName(target.state)));
        if (!target.message.empty()) messages_.insert(target.message);
      }
    });
  }
  // What stands in the directory, whatever happened.
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_.path())) {
      if (entry.is_regular_file()) files.push_back(entry.path().filename().string());
    }
    std::sort(files.begin(), files.end());
    return files;
  }
  std::string ReadSaved(const TargetProgress& target) const {
    return storage::TestDirectory::Read(directory_.path() + "/" + target.file);
  }
  // The one target's end when nothing was saved.
  TargetProgress Failed(const CaptureRequest& request) {
    const Result<CaptureResult> result = Run(request);
    EXPECT_FALSE(result.ok());
    EXPECT_EQ(result.status().name(), "CAPTURE_NOTHING_SAVED");
    EXPECT_THAT(std::string(result.status().message()),
                ::testing::HasSubstr(last_.targets[0].message));
    EXPECT_TRUE(Files().empty());
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_.path())) {
      // No session directory is left behind.
      EXPECT_THAT((std::set<std::string>{"plugins", "profile"}),
                  ::testing::Contains(entry.path().filename().string()));
    }
    EXPECT_FALSE(last_.targets[0].hint.empty());
    return last_.targets[0];
  }

  storage::TestDirectory directory_;
  SeededRandom random_{11};
  IdMaker ids_{SystemClock(), random_};
  CaptureContext context_{SystemClock(), ids_};
  CancelSource cancel_;
  CaptureProgress last_;
  int reports_ = 0;
  std::set<std::string> seen_;
  std::set<std::string> messages_;
};

}  // namespace strobe::capture
