#include "src/engine/first_look.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "src/storage/byte_source.h"

namespace strobe::engine {
namespace {

namespace fs = std::filesystem;

constexpr Hash128 kContent = {.high = 7, .low = 9};
constexpr int64_t kShiftPs = -1234;

class FirstLookTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "strobe-look-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    path_ = directory_ + "/a.look";
  }
  void TearDown() override { fs::remove_all(directory_); }

  void Write() const {
    FirstLookWriter writer(kContent, kShiftPs, analysis::TimeWindow{-5, 1'000});
    writer.AddLine({.plane = 2,
                    .line = 3,
                    .event_count = 1ULL << 33,
                    .row_count = 4,
                    .window = analysis::TimeWindow{10, 20},
                    .display_id = -8,
                    .display_name = "a thread"});
    writer.AddLine({.plane = 2, .line = 4, .event_count = 0, .row_count = 0, .window = {}});
    ASSERT_TRUE(writer.AddTile({.plane = 2, .chunk = 0, .level = 40, .index = -1}, "left"));
    ASSERT_TRUE(writer.AddTile({.plane = 2, .chunk = 0, .level = 40, .index = 0}, "right tile"));
    const Status written = std::move(writer).Commit(path_);
    ASSERT_TRUE(written.ok()) << written.ToString();
  }
  Result<std::shared_ptr<const FirstLook>> Open(const Hash128& content = kContent,
                                                int64_t shift_ps = kShiftPs) const {
    auto mapped = storage::OpenMappedFile(path_);
    if (!mapped.ok()) return mapped.status();
    return FirstLook::Open(*std::move(mapped), content, shift_ps);
  }
  std::string Bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  std::string directory_;
  std::string path_;
};

TEST_F(FirstLookTest, GivesBackWhatWasKept) {
  Write();
  const auto look = Open();
  ASSERT_TRUE(look.ok()) << look.status().ToString();
  ASSERT_TRUE((*look)->window().has_value());
  EXPECT_EQ((*look)->window()->start_ps, -5);
  EXPECT_EQ((*look)->window()->end_ps, 1'000);
  const LineFacts* line = (*look)->Line(2, 3);
  ASSERT_NE(line, nullptr);
  EXPECT_EQ(line->event_count, 1ULL << 33);
  EXPECT_EQ(line->row_count, 4u);
  ASSERT_TRUE(line->window.has_value());
  EXPECT_EQ(line->window->end_ps, 20);
  EXPECT_EQ(line->display_id, -8);
  EXPECT_EQ(line->display_name, "a thread");
  ASSERT_NE((*look)->Line(2, 4), nullptr);
  EXPECT_FALSE((*look)->Line(2, 4)->window.has_value());
  EXPECT_EQ((*look)->Line(3, 3), nullptr);
  EXPECT_EQ(*(*look)->Tile({.plane = 2, .chunk = 0, .level = 40, .index = -1}), "left");
  EXPECT_EQ(*(*look)->Tile({.plane = 2, .chunk = 0, .level = 40, .index = 0}), "right tile");
  EXPECT_EQ((*look)->Tile({.plane = 2, .chunk = 0, .level = 39, .index = 0}), nullptr);
}

TEST_F(FirstLookTest, IsOfNoUseToAnotherProfileOrShift) {
  Write();
  EXPECT_EQ(Open({.high = 7, .low = 8}).status().name(), "FIRST_LOOK_UNUSABLE");
  EXPECT_EQ(Open(kContent, 0).status().name(), "FIRST_LOOK_UNUSABLE");
}

TEST_F(FirstLookTest, NoDamagedByteIsBelieved) {
  Write();
  const std::string whole = Bytes();
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
    std::ofstream(path_, std::ios::binary) << bytes;
    const auto look = Open();
    if (!look.ok()) {
      EXPECT_EQ(look.status().name(), "FIRST_LOOK_UNUSABLE");
      continue;
    }
    // Then it is a byte of a tile, and that tile is gone.
    const auto left = (*look)->Tile({.plane = 2, .chunk = 0, .level = 40, .index = -1});
    const auto right = (*look)->Tile({.plane = 2, .chunk = 0, .level = 40, .index = 0});
    EXPECT_TRUE((left == nullptr) != (right == nullptr)) << "byte " << at;
    EXPECT_FALSE(std::filesystem::exists(path_)) << "it is made anew the next time";
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(path_, std::ios::binary) << whole.substr(0, size);
    EXPECT_FALSE(Open().ok()) << size << " bytes";
  }
}

TEST_F(FirstLookTest, TilesBeyondTheLimitAreLeftOut) {
  FirstLookWriter writer(kContent, kShiftPs, {});
  const std::string large(FirstLook::kMaxBytes - 3, 'x');
  EXPECT_TRUE(writer.AddTile({.plane = 0, .chunk = 0, .level = 20, .index = 0}, large));
  EXPECT_FALSE(writer.AddTile({.plane = 0, .chunk = 1, .level = 20, .index = 0}, "four"));
  EXPECT_TRUE(writer.AddTile({.plane = 0, .chunk = 2, .level = 20, .index = 0}, "six"));
}

}  // namespace
}  // namespace strobe::engine
