// Combining hosts that are opened apart: the same answer, and nothing of them stays.
#include "src/tools/session_input.h"

#include <gtest/gtest.h>

#include "src/analysis/op_profile_for_test.h"
#include "src/tools/session_for_test.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::tools {
namespace {

std::string Profile(int64_t duration_ps) {
  xplane::XSpaceBuilder space;
  xplane::PlaneBuilder& device = space.AddPlane("/device:TPU:0");
  const int64_t op = analysis::AddTpuOp(&device, {.name = "fusion.1", .symbol = 1});
  xplane::LineBuilder& ops = device.AddLine(2, "XLA Ops", 0);
  ops.AddEvent(op, 0, duration_ps);
  ops.AddEvent(op, 1'000'000, duration_ps);
  return space.Serialize();
}

class ApartTest : public ::testing::Test {
 protected:
  // Host 1 cannot be opened apart when `broken`.
  std::shared_ptr<SessionInput> Open(bool apart, bool broken = false) {
    SessionInput::Parts parts;
    parts.name = "made";
    auto modules = std::make_shared<hlo::ModuleSet>();
    for (size_t h = 0; h < bytes_.size(); ++h) {
      const auto file = xplane::MustOpen(bytes_[h]);
      parts.hosts.push_back({.name = "host" + std::to_string(h), .file = file.get(), .error = {}});
      parts.owners.push_back(file);
    }
    modules->Finish();
    parts.modules = modules;
    parts.host_done = [this](size_t) { ++done_; };
    if (apart) {
      parts.open_apart =
          [this, broken](size_t host,
                         const CancelToken&) -> Result<std::shared_ptr<const xplane::ProfileFile>> {
        if (broken && host == 1) return UnavailableError("GONE", "The file is gone.");
        ++opened_;
        std::shared_ptr<const xplane::ProfileFile> file = xplane::MustOpen(bytes_[host]);
        last_ = file;
        return file;
      };
    }
    return std::make_shared<SessionInput>(std::move(parts));
  }

  const std::vector<std::string> bytes_ = {Profile(1000), Profile(2000), Profile(4000)};
  int opened_ = 0;
  std::atomic<int> done_{0};
  std::weak_ptr<const xplane::ProfileFile> last_;
};

TEST_F(ApartTest, GivesTheSameAndKeepsNothingOfTheHosts) {
  const auto apart = Open(/*apart=*/true);
  const auto together = Open(/*apart=*/false);
  const ToolResult a = MustAnswer("hlo_stats", *apart);
  EXPECT_EQ(opened_, 3);
  EXPECT_EQ(done_, 3);
  EXPECT_TRUE(last_.expired());
  for (const ToolHost& host : apart->hosts()) EXPECT_FALSE(host.file->LineDecoded(0, 0));
  const ToolResult b = MustAnswer("hlo_stats", *together);
  EXPECT_TRUE(together->hosts()[0].file->LineDecoded(0, 0));
  ASSERT_EQ(a.tables.size(), b.tables.size());
  ASSERT_EQ(a.tables[0].rows().size(), b.tables[0].rows().size());
  ASSERT_FALSE(a.tables[0].rows().empty());
  for (size_t row = 0; row < a.tables[0].rows().size(); ++row) {
    for (size_t c = 0; c < a.tables[0].columns().size(); ++c) {
      EXPECT_EQ(a.tables[0].rows()[row][c].value, b.tables[0].rows()[row][c].value)
          << a.tables[0].columns()[c].id;
    }
  }
}

TEST_F(ApartTest, AHostThatFailsIsNamedAndTheRestCounts) {
  const auto session = Open(/*apart=*/true, /*broken=*/true);
  const ToolResult result = MustAnswer("hlo_stats", *session);
  EXPECT_TRUE(result.partial);
  bool named = false;
  for (const Notice& notice : result.notices) {
    named = named || notice.message.find("host1") != std::string::npos;
  }
  EXPECT_TRUE(named);
}

}  // namespace
}  // namespace strobe::tools
