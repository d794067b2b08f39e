// Broken input: whatever the bytes, reading ends, names the damage, and serves what came before.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "src/base/ids.h"
#include "src/wire/wire_reader.h"
#include "src/wire/wire_writer.h"
#include "src/xplane/test_bytes.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::xplane {
namespace {

#ifdef STROBE_ASAN
constexpr int kRealCuts = 200;
constexpr int kFlips = 1500;
#else
constexpr int kRealCuts = 2000;
constexpr int kFlips = 6000;
#endif

// One event as it was read: where its record begins and ends, and its times within the line.
struct SeenEvent {
  uint64_t end_offset = 0;
  int64_t offset_ps = 0;
  int64_t duration_ps = 0;
  bool operator==(const SeenEvent&) const = default;
};

std::map<uint64_t, SeenEvent> AllEvents(const ProfileFile& file) {
  std::map<uint64_t, SeenEvent> events;
  const std::string_view bytes = file.source().bytes();
  for (size_t p = 0; p < file.planes().size(); ++p) {
    for (size_t l = 0; l < file.planes()[p].lines.size(); ++l) {
      const LineColumns& line = file.Line(p, l);
      for (uint32_t e = 0; e < line.event_count(); ++e) {
        const uint64_t offset = file.EventOffset(p, l, e);
        wire::WireReader reader(bytes.substr(offset));
        wire::WireField field;
        EXPECT_TRUE(reader.Next(&field));
        events[offset] = {offset + reader.offset(),
                          line.start_ps[e] - file.planes()[p].lines[l].base_ps,
                          line.duration_ps[e]};
      }
    }
  }
  return events;
}

bool IsNamed(const Status& status) {
  static const std::vector<std::string_view> kNames = {
      "XPLANE_EMPTY",      "XPLANE_NOT_A_PROFILE", "XPLANE_TRUNCATED",  "XPLANE_BAD_LENGTH",
      "XPLANE_BAD_VARINT", "XPLANE_BAD_TAG",       "XPLANE_WRONG_TYPE", "XPLANE_GROUP",
      "LIMIT_EXCEEDED",    "XPLANE_MORE_DAMAGE"};
  return std::find(kNames.begin(), kNames.end(), status.name()) != kNames.end() &&
         !status.message().empty() && !status.hint().empty();
}

// Uses everything that can be asked of a file, and checks what must hold of any.
void UseEverything(const ProfileFile& file) {
  ASSERT_TRUE(file.DecodeAll(CancelToken(), nullptr).ok());
  for (size_t p = 0; p < file.planes().size(); ++p) {
    const Plane& plane = file.planes()[p];
    (void)file.PlaneStats(p);
    ASSERT_FALSE(plane.event_metadata.empty());
    for (uint32_t m = 0; m < plane.event_metadata.size(); ++m) {
      (void)file.MetadataStats(p, m);
      (void)file.MetadataChildIds(p, m);
    }
    for (size_t l = 0; l < plane.lines.size(); ++l) {
      const LineColumns& line = file.Line(p, l);
      for (uint32_t e = 0; e < line.event_count(); ++e) {
        ASSERT_LT(line.name[e], plane.event_metadata.size());
        ASSERT_GE(line.duration_ps[e], 0);
        (void)file.EventStats(p, l, e);
        (void)file.EventOccurrences(p, l, e);
      }
      for (const LineColumns::Row& row : line.timed_rows()) {
        for (uint32_t e = row.first + 1; e < row.first + row.count; ++e) {
          ASSERT_GE(line.start_ps[e], line.start_ps[e - 1] + line.duration_ps[e - 1]);
        }
      }
      (void)file.EventStatColumn(p, l, "flops");
    }
  }
  for (const Damage& damage : file.damage()) {
    ASSERT_TRUE(IsNamed(damage.status)) << damage.status.ToString();
    ASSERT_LE(damage.offset_bytes, file.source().bytes().size());
  }
}

std::string SmallProfile() {
  XSpaceBuilder space;
  PlaneBuilder& device = space.AddPlane("/device:TPU:0", 3);
  const int64_t fusion = device.AddEventMetadata("fusion.1", "fusion");
  device.EventMetadataStats(fusion).AddStat(device.StatId("flops"), uint64_t{1000});
  const int64_t copy = device.AddEventMetadata("copy.2");
  LineBuilder& ops = device.AddLine(3, "XLA Ops", 0);
  for (int64_t i = 0; i < 20; ++i) {
    ops.AddEvent(i % 2 == 0 ? fusion : copy, i * 1'000'000, 900'000)
        .AddStat(device.StatId("flops"), static_cast<uint64_t>(i))
        .AddRefStat(device.StatId("hlo_op"), 1);
    if (i % 4 == 0) ops.AddEvent(copy, i * 1'000'000 + 5, 10);
  }
  ops.SetDisplay(7, "operations");
  device.AddLine(4, "Steps", 12).AddAggregatedEvent(fusion, 3, 100);
  PlaneBuilder& host = space.AddPlane("/host:CPU");
  LineBuilder& thread = host.AddLine(-5, "python", 1'764'000'000'000'000'000);
  for (int64_t i = 0; i < 10; ++i) thread.AddEvent(host.AddEventMetadata("call"), i * 100, 50);
  PlaneBuilder& task = space.AddPlane("Task Environment");
  task.PlaneStats().AddStat(task.StatId("profile_start_time"), uint64_t{1'764'000'000'000'000'000});
  space.AddHostname("host0").AddWarning("a warning");
  return space.Serialize();
}

void CheckCut(std::string_view whole, size_t cut, const std::map<uint64_t, SeenEvent>& events) {
  SCOPED_TRACE("cut at " + std::to_string(cut));
  const auto file = OpenBytes(whole.substr(0, cut));
  std::map<uint64_t, SeenEvent> expected;
  for (const auto& [offset, event] : events) {
    if (event.end_offset <= cut) expected.emplace(offset, event);
  }
  if (!file.ok()) {
    EXPECT_TRUE(IsNamed(file.status())) << file.status().ToString();
    EXPECT_TRUE(expected.empty()) << file.status().ToString();
    return;
  }
  ASSERT_TRUE((*file)->DecodeAll(CancelToken(), nullptr).ok());
  EXPECT_EQ(AllEvents(**file), expected);
  for (const Damage& damage : (*file)->damage()) {
    EXPECT_TRUE(IsNamed(damage.status)) << damage.status.ToString();
  }
}

TEST(DamageTest, ASmallProfileCutAtEveryByte) {
  const std::string whole = SmallProfile();
  const std::map<uint64_t, SeenEvent> events = AllEvents(*MustOpen(whole));
  ASSERT_EQ(events.size(), 36u);
  size_t clean = 0;
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    CheckCut(whole, cut, events);
    const auto file = OpenBytes(std::string_view(whole).substr(0, cut));
    if (file.ok()) {
      UseEverything(**file);
      clean += (*file)->damage().empty();
    }
  }
  EXPECT_EQ(clean, 4u) << "only a cut between two fields of the profile itself leaves no trace";
}

TEST(DamageTest, TheCutIsNamedWithItsPlaneAndLine) {
  const std::string whole = SmallProfile();
  const auto file = OpenBytes(std::string_view(whole).substr(0, 200));
  ASSERT_TRUE(file.ok());
  const LineColumns& line = (*file)->Line(0, 0);
  EXPECT_TRUE(line.damaged);
  EXPECT_GT(line.event_count(), 0u);
  const std::vector<Damage> damage = (*file)->damage();
  ASSERT_EQ(damage.size(), 1u);
  EXPECT_EQ(damage[0].status.name(), "XPLANE_TRUNCATED");
  EXPECT_EQ(damage[0].status.code(), StatusCode::kDataLoss);
  EXPECT_EQ(damage[0].offset_bytes, 200u);
  EXPECT_EQ(damage[0].plane, "/device:TPU:0");
  EXPECT_EQ(damage[0].line, "XLA Ops");
  EXPECT_NE(damage[0].status.where().find("offset 200"), std::string_view::npos);
}

TEST(DamageTest, RandomFlipsNeverBreakTheReader) {
  const std::string whole = SmallProfile();
  SeededRandom random(20261129);
  for (int round = 0; round < kFlips; ++round) {
    std::string bytes = whole;
    const uint64_t flips = 1 + random.Next() % 4;
    for (uint64_t f = 0; f < flips; ++f) {
      bytes[random.Next() % bytes.size()] ^= static_cast<char>(1 << (random.Next() % 8));
    }
    const auto file = OpenBytes(bytes);
    if (!file.ok()) {
      EXPECT_TRUE(IsNamed(file.status())) << file.status().ToString();
      continue;
    }
    UseEverything(**file);
    ASSERT_FALSE(HasFatalFailure()) << "round " << round;
  }
}

TEST(DamageTest, RandomBytesInPlaceOfALine) {
  SeededRandom random(5);
  for (int round = 0; round < kFlips / 4; ++round) {
    std::string garbage(random.Next() % 300, '\0');
    for (char& c : garbage) c = static_cast<char>(random.Next() % (round % 2 == 0 ? 256 : 48));
    std::string plane, space;
    wire::AppendBytesField(2, "p", &plane);
    wire::AppendBytesField(3, garbage, &plane);
    wire::AppendBytesField(4, garbage, &plane);
    wire::AppendBytesField(1, plane, &space);
    wire::AppendBytesField(1, garbage, &space);
    UseEverything(*MustOpen(space));
    ASSERT_FALSE(HasFatalFailure()) << "round " << round;
  }
}

TEST(DamageTest, RealProfilesCutAnywhere) {
  const std::filesystem::path corpus = CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  SeededRandom random(9);
  for (const char* name :
       {"gpu-1080ti-julia/plugins/profile/2025_02_05_11_05_24/cyclops.xplane.pb",
        "gpu-mi300-elementwise/plugins/profile/2025_08_02_00_00_00/tw003.xplane.pb",
        "tpu-v6e-4-inference/plugins/profile/2025_06_01_00_00_00/host0.xplane.pb"}) {
    const std::string whole = ReadWholeFile(corpus / "sessions" / name);
    ASSERT_FALSE(whole.empty());
    const std::map<uint64_t, SeenEvent> events = AllEvents(*MustOpen(whole));
    const int cuts = whole.size() > 500'000 ? kRealCuts / 10 : kRealCuts;
    for (int i = 0; i < cuts; ++i) CheckCut(whole, random.Next() % whole.size(), events);
  }
}

TEST(DamageTest, RealProfilesWithFlippedBits) {
  const std::filesystem::path corpus = CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  const std::string whole = ReadWholeFile(
      corpus /
      "sessions/gpu-mi300-elementwise/plugins/profile/2025_08_02_00_00_00/tw003.xplane.pb");
  SeededRandom random(10);
  for (int round = 0; round < kRealCuts / 10; ++round) {
    std::string bytes = whole;
    for (int f = 0; f < 20; ++f) {
      bytes[random.Next() % bytes.size()] ^= static_cast<char>(1 << (random.Next() % 8));
    }
    const auto file = OpenBytes(bytes);
    if (file.ok()) UseEverything(**file);
    ASSERT_FALSE(HasFatalFailure()) << "round " << round;
  }
}

std::string HloProto() {
  std::string computation, module, proto;
  wire::AppendBytesField(1, "main.3", &computation);
  wire::AppendBytesField(1, "jit_train_step", &module);
  wire::AppendBytesField(2, "main.3", &module);
  wire::AppendBytesField(3, computation, &module);
  wire::AppendBytesField(1, module, &proto);
  return proto;
}

TEST(DamageTest, OtherFilesAreRecognised) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\x1f\x8b\x08 and so on", "gzip"},
      {"\x28\xb5\x2f\xfd 1234", "zstd"},
      {std::string("\xfd"
                   "7zXZ\0\0\4",
                   8),
       "xz"},
      {"{\"traceEvents\": []}", "JSON"},
      {"\n\n[1, 2]\n", "JSON"},
      {"<html></html>", "HTML"},
      {"I am a text file.\n", "text"},
      {"PK\x03\x04 zip", "zip"},
      {"\x7f"
       "ELF program",
       "program"},
      {HloProto(), "HLO module"},
      {std::string(100, '\xff'), "make no sense"},
      {std::string(100, '\0'), "make no sense"},
  };
  for (const auto& [bytes, found] : cases) {
    const auto file = OpenBytes(bytes);
    ASSERT_FALSE(file.ok()) << found;
    EXPECT_EQ(file.status().name(), "XPLANE_NOT_A_PROFILE");
    EXPECT_NE(file.status().message().find(found), std::string_view::npos)
        << file.status().ToString();
    EXPECT_FALSE(file.status().hint().empty());
  }
  EXPECT_EQ(OpenBytes("").status().name(), "XPLANE_EMPTY");
  EXPECT_EQ(OpenBytes("\x0a\xc8\x01").status().name(), "XPLANE_TRUNCATED");
}

std::string PlaneWith(std::string_view line_bytes) {
  std::string plane, space;
  wire::AppendBytesField(2, "the plane", &plane);
  wire::AppendBytesField(3, line_bytes, &plane);
  wire::AppendBytesField(1, plane, &space);
  return space;
}

TEST(DamageTest, EachKindHasItsName) {
  LineBuilder good(1, "the line", 0);
  good.AddEvent(1, 10, 5);
  const std::string start = good.Serialize();
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\x22\xff\x01\x08\x01", "XPLANE_BAD_LENGTH"},
      {std::string("\x22\x0c\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 14),
       "XPLANE_BAD_VARINT"},
      {"\x22\x02\x0a\x00", "XPLANE_BAD_LENGTH"},
      {"\x20\x05", "XPLANE_WRONG_TYPE"},
      {std::string("\x22\x02\x12\x00", 4), "XPLANE_WRONG_TYPE"},
      {"\x22\x02\x0b\x0c", "XPLANE_GROUP"},
      {"\x23\x24", "XPLANE_GROUP"},
      {"\x26\x01", "XPLANE_WRONG_TYPE"},
      {std::string("\x00\x01", 2), "XPLANE_BAD_TAG"},
      {"\x22\x04\x22\x7f\x08\x01", "XPLANE_BAD_LENGTH"},
  };
  for (size_t c = 0; c < cases.size(); ++c) {
    SCOPED_TRACE(c);
    const std::string bytes = PlaneWith(start + cases[c].first);
    const std::shared_ptr<ProfileFile> file = MustOpen(bytes);
    const LineColumns& line = file->Line(0, 0);
    EXPECT_EQ(line.event_count(), 1u);
    EXPECT_TRUE(line.damaged);
    const std::vector<Damage> damage = file->damage();
    ASSERT_EQ(damage.size(), 1u);
    EXPECT_EQ(damage[0].status.name(), cases[c].second) << damage[0].status.ToString();
    EXPECT_EQ(damage[0].line, "the line");
    EXPECT_EQ(damage[0].offset_bytes, file->planes()[0].lines[0].bytes.offset + start.size());
  }
}

TEST(DamageTest, TablesAndColumnsOfAbsurdFilesAreBounded) {
  // Two bytes for a plane, a line or an event would become 24 to 150 bytes of memory.
  for (const char* unit : {"plane", "line", "event", "metadata"}) {
    SCOPED_TRACE(unit);
    std::string inner, line, plane, space;
    wire::AppendBytesField(2, "p", &plane);
    constexpr size_t kCount = 4'000'000;
    if (unit[0] == 'p') {
      wire::AppendBytesField(4, "host", &space);
      for (size_t i = 0; i < kCount; ++i) space.append("\x0a\x00", 2);
    } else if (unit[0] == 'l') {
      for (size_t i = 0; i < kCount; ++i) plane.append("\x1a\x00", 2);
    } else if (unit[0] == 'e') {
      for (size_t i = 0; i < kCount; ++i) line.append("\x22\x00", 2);
      wire::AppendBytesField(3, line, &plane);
    } else {
      for (uint64_t i = 0; i < kCount / 4; ++i) {
        inner.clear();
        wire::AppendVarintField(1, i, &inner);
        wire::AppendBytesField(4, inner, &plane);
      }
    }
    if (space.empty()) wire::AppendBytesField(1, plane, &space);
    const std::shared_ptr<ProfileFile> file = MustOpen(space);
    ASSERT_TRUE(file->DecodeAll(CancelToken(), nullptr).ok());
    ASSERT_FALSE(file->damage().empty());
    EXPECT_EQ(file->damage()[0].status.name(), "LIMIT_EXCEEDED");
    EXPECT_LE(file->resident_bytes(), (uint64_t{80} << 20) + 3 * space.size());
  }
}

}  // namespace
}  // namespace strobe::xplane
