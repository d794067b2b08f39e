// Serials of events that begin at one time, against a sort of all of them.
#include "src/tools/trace_view_host.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/base/ids.h"
#include "src/base/threads_for_test.h"
#include "src/xplane/test_bytes.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::tools {
namespace {

using EventId = TraceHost::EventId;

// Threads whose events often begin together, many of them at time 0, and lie inside each other.
std::string Space(size_t events_of_line) {
  xplane::XSpaceBuilder space;
  SeededRandom random(11);
  for (int p = 0; p < 2; ++p) {
    xplane::PlaneBuilder& plane = space.AddPlane(p == 0 ? "/host:CPU" : "/device:GPU:0");
    const int64_t name = plane.AddEventMetadata("work");
    for (int l = 0; l < 3; ++l) {
      xplane::LineBuilder& line = plane.AddLine(l + 1, "thread", 0);
      int64_t start_ps = 0;
      for (size_t i = 0; i < events_of_line; ++i) {
        if (i > events_of_line / 4) start_ps += static_cast<int64_t>(random.Next() % 3);
        line.AddEvent(name, start_ps, static_cast<int64_t>(random.Next() % 5));
      }
    }
  }
  return space.Serialize();
}

std::shared_ptr<const TraceHost> HostOf(const std::string& bytes, const Parallel& parallel,
                                        std::shared_ptr<const analysis::PreparedHost>* prepared) {
  const std::shared_ptr<xplane::ProfileFile> file = xplane::MustOpen(bytes);
  analysis::PrepareOptions options;
  options.parallel = parallel;
  *prepared = *analysis::PreparedHost::Prepare(file, *file, options, CancelToken());
  return *TraceHost::Of(*prepared, "h", CancelToken());
}

TEST(TraceHostTest, SerialsCountTheEventsOfOneTime) {
  for (const size_t events : {size_t{50}, size_t{60'000}}) {  // one piece of time, and several
    std::shared_ptr<const analysis::PreparedHost> prepared;
    const auto host = HostOf(Space(events), ThreadsForTest(3), &prepared);
    std::vector<EventId> ids;
    for (uint32_t l = 0; l < host->lines().size(); ++l) {
      for (uint32_t e = 0; e < host->lines()[l].count(); ++e) ids.push_back({l, e});
    }
    ASSERT_EQ(ids.size(), 6 * events);
    std::ranges::stable_sort(ids, [&](EventId a, EventId b) { return host->Before(a, b); });
    const auto start = [&](EventId id) { return host->lines()[id.line].StartOf(id.event); };
    uint32_t expected = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      expected = i > 0 && start(ids[i]) == start(ids[i - 1]) ? expected + 1 : 0;
      const TraceHost::Line& line = host->lines()[ids[i].line];
      ASSERT_EQ(host->SerialOf(line, ids[i].event),
                std::min<uint32_t>(expected, TraceHost::kMostSerial))
          << i << " of " << ids.size();
    }
  }
}

TEST(TraceHostTest, LinesWithoutEqualTimesKeepNoSerials) {
  xplane::XSpaceBuilder space;
  xplane::PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t name = plane.AddEventMetadata("work");
  for (int l = 0; l < 2; ++l) {
    xplane::LineBuilder& line = plane.AddLine(l + 1, "thread", 0);
    for (int i = 0; i < 100; ++i) line.AddEvent(name, 10 * i + l, 5);
  }
  std::shared_ptr<const analysis::PreparedHost> prepared;
  const auto host = HostOf(space.Serialize(), Parallel(), &prepared);
  for (const TraceHost::Line& line : host->lines()) EXPECT_TRUE(line.serials.empty());
}

}  // namespace
}  // namespace strobe::tools
