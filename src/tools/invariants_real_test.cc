// What must hold of any profile, over every real session: the order of hosts changes nothing, and a
// host whose profile lies in two files is the same as in one.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "src/hlo/corpus_for_test.h"
#include "src/tools/session_for_test.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::tools {
namespace {

using analysis::OpMetrics;
using analysis::OpMetricsDb;
using xplane::CorpusDirectory;

std::vector<xplane::SessionEntry> Sessions() {
  Result<std::vector<xplane::SessionEntry>> listed =
      xplane::ListSessions(CorpusDirectory() / "sessions", {});
  EXPECT_TRUE(listed.ok());
  std::vector<xplane::SessionEntry> sessions;
  if (!listed.ok()) return sessions;
  for (xplane::SessionEntry& entry : *listed) {
    // A million events that hold the same as those of the others.
    if (entry.run.find("cpu-jax-large") == std::string::npos) sessions.push_back(std::move(entry));
  }
  return sessions;
}

// The bytes of an XSpace of which only some planes are kept.
template <typename Keep>
std::string PlanesOf(const xplane::ProfileFile& file, Keep keep) {
  std::string space;
  const std::string_view bytes = file.source().bytes();
  for (const xplane::Plane& plane : file.planes()) {
    if (!keep(plane)) continue;
    space += '\x0a';  // field 1, a message
    for (uint64_t size = plane.bytes.size_bytes; true; size >>= 7) {
      if (size < 0x80) {
        space += static_cast<char>(size);
        break;
      }
      space += static_cast<char>((size & 0x7f) | 0x80);
    }
    space += bytes.substr(plane.bytes.offset, plane.bytes.size_bytes);
  }
  return space;
}

using Sums = std::map<std::pair<uint64_t, std::string>, std::tuple<uint64_t, uint64_t, double>>;
Sums SumsOf(const OpMetricsDb& db) {
  Sums sums;
  for (const OpMetrics& op : db.ops) {
    auto& [occurrences, self_ps, flops] = sums[{op.hlo_module_id, op.name}];
    occurrences += op.occurrences;
    self_ps += op.self_time_ps;
    flops += op.flops;
  }
  return sums;
}

void ExpectSame(const Sums& a, const Sums& b) {
  EXPECT_EQ(a.size(), b.size());
  for (const auto& [key, sum] : a) {
    const auto other = b.find(key);
    if (other == b.end()) {
      ADD_FAILURE() << key.second << " is missing";
      continue;
    }
    EXPECT_EQ(std::get<0>(sum), std::get<0>(other->second)) << key.second;
    EXPECT_EQ(std::get<1>(sum), std::get<1>(other->second)) << key.second;
    EXPECT_NEAR(std::get<2>(sum), std::get<2>(other->second), 1e-9 * std::get<2>(sum))
        << key.second;
  }
}

std::shared_ptr<const analysis::OpStats> StatsOf(SessionInput& session,
                                                 const std::vector<size_t>& hosts) {
  const auto stats = session.CombinedOpStats(hosts, CancelToken());
  EXPECT_TRUE(stats.ok()) << stats.status().ToString();
  return stats.ok() ? *stats : std::make_shared<const analysis::OpStats>();
}

// A cell for comparison: numbers to ten digits, since sums of doubles depend on their order.
std::string CellText(const Cell& cell) {
  if (const double* number = std::get_if<double>(&cell.value)) {
    char text[40];
    snprintf(text, sizeof text, "%.10g", *number);
    return text;
  }
  if (const std::string* text = std::get_if<std::string>(&cell.value)) return *text;
  if (const bool* truth = std::get_if<bool>(&cell.value)) return *truth ? "true" : "false";
  return "";
}

std::vector<std::string> RowTexts(const Table& table) {
  std::vector<std::string> rows;
  for (const auto& row : table.rows()) {
    std::string text;
    for (const Cell& cell : row) text += CellText(cell) + "|";
    rows.push_back(std::move(text));
  }
  std::ranges::sort(rows);
  return rows;
}

// Every session of several hosts, and each two of the sessions of one host as if they were one.
TEST(RealInvariantsTest, TheOrderOfHostsChangesNoOp) {
  STROBE_NEED_CORPUS(CorpusDirectory());
  const std::vector<xplane::SessionEntry> sessions = Sessions();
  ASSERT_GE(sessions.size(), 2U);
  for (size_t s = 0; s < sessions.size(); ++s) {
    xplane::SessionEntry both = sessions[s];
    if (both.files.size() == 1) {
      xplane::SessionFile other = sessions[(s + 1) % sessions.size()].files.front();
      other.host += "-other";
      both.files.push_back(other);
    }
    SCOPED_TRACE(both.path);
    const auto session = OpenSessionForTest(both);
    std::vector<size_t> forth;
    for (size_t h = 0; h < session->hosts().size(); ++h) forth.push_back(h);
    const std::vector<size_t> back(forth.rbegin(), forth.rend());
    const auto stats = StatsOf(*session, forth);
    const auto turned = StatsOf(*session, back);
    ExpectSame(SumsOf(stats->device_ops), SumsOf(turned->device_ops));
    ExpectSame(SumsOf(stats->host_ops), SumsOf(turned->host_ops));
    EXPECT_EQ(stats->device_ops.total_time_ps, turned->device_ops.total_time_ps);
    EXPECT_EQ(stats->device_ops.total_op_time_ps, turned->device_ops.total_op_time_ps);
    for (const char* query :
         {"SELECT plane, line, count(*) n, sum(duration_ps) d, sum(self_time_ps) s FROM Events "
          "GROUP BY 1, 2 ORDER BY 1, 2"}) {
      const std::map<std::string, std::string> options = {{"query", query}, {"limit", "0"}};
      const Value a = MustAnswer("query_events_db", *session, options, false, forth).document;
      const Value b = MustAnswer("query_events_db", *session, options, false, back).document;
      EXPECT_EQ(a.Find("rows")->items().size(), b.Find("rows")->items().size());
      for (size_t i = 0; i < a.Find("rows")->items().size(); ++i) {
        for (const char* name : {"n", "d", "s"}) {
          EXPECT_EQ(a.Find("rows")->items()[i].Find(name)->int_value(),
                    b.Find("rows")->items()[i].Find(name)->int_value());
        }
      }
    }
    EXPECT_EQ(RowTexts(MustAnswer("kernel_stats", *session, {}, false, forth).tables.at(0)),
              RowTexts(MustAnswer("kernel_stats", *session, {}, false, back).tables.at(0)));
  }
}

// The devices in one file, all else in the other. Whoever has the modules has them for both.
TEST(RealInvariantsTest, AHostInTwoFilesHasTheOpsOfTheWhole) {
  STROBE_NEED_CORPUS(CorpusDirectory());
  size_t with_devices = 0;
  for (const xplane::SessionEntry& entry : Sessions()) {
    SCOPED_TRACE(entry.path);
    const auto original = OpenSessionForTest(entry);
    for (const ToolHost& host : original->hosts()) {
      if (host.file == nullptr) continue;
      const auto all = [](const xplane::Plane&) { return true; };
      const auto device = [](const xplane::Plane& plane) {
        return plane.name.starts_with("/device:") || plane.name == "/host:metadata";
      };
      const auto rest = [](const xplane::Plane& plane) {
        return !plane.name.starts_with("/device:");
      };
      // A profile of a host alone has nothing to part.
      if (PlanesOf(*host.file, device).empty()) continue;
      const auto whole = SessionForTest({{"h", PlanesOf(*host.file, all)}});
      const auto parts = SessionForTest(
          {{"h", PlanesOf(*host.file, device)}, {"h-rest", PlanesOf(*host.file, rest)}});
      const auto one = StatsOf(*whole, {0});
      const auto two = StatsOf(*parts, {0, 1});
      with_devices += one->device_ops.total_op_time_ps > 0;
      EXPECT_EQ(one->device_ops.total_op_time_ps, two->device_ops.total_op_time_ps);
      EXPECT_EQ(one->host_ops.total_op_time_ps, two->host_ops.total_op_time_ps);
      ExpectSame(SumsOf(one->host_ops), SumsOf(two->host_ops));
      EXPECT_EQ(RowTexts(MustAnswer("kernel_stats", *whole).tables.at(0)).size(),
                RowTexts(MustAnswer("kernel_stats", *parts).tables.at(0)).size());
    }
  }
  EXPECT_GT(with_devices, 0U);
}

// Every event goes to the half it begins in; counts and durations by name add up.
TEST(RealInvariantsTest, TwoHalvesOfAProfileAddUp) {
  STROBE_NEED_CORPUS(CorpusDirectory());
  for (const xplane::SessionEntry& entry : Sessions()) {
    SCOPED_TRACE(entry.path);
    const auto original = OpenSessionForTest(entry);
    const xplane::ProfileFile* file = original->hosts().front().file;
    ASSERT_NE(file, nullptr);
    int64_t first_ps = INT64_MAX;
    int64_t last_ps = INT64_MIN;
    const auto each_line = [&](const auto& visit) {
      for (size_t p = 0; p < file->planes().size(); ++p) {
        for (size_t l = 0; l < file->planes()[p].lines.size(); ++l) visit(p, l, file->Line(p, l));
      }
    };
    each_line([&](size_t, size_t, const xplane::LineColumns& line) {
      if (line.event_count() == 0) return;
      first_ps = std::min(first_ps, line.first_start_ps);
      last_ps = std::max(last_ps, line.last_end_ps);
    });
    ASSERT_LT(first_ps, last_ps);
    const int64_t middle_ps = first_ps + (last_ps - first_ps) / 2;
    std::vector<std::pair<std::string, std::string>> halves;
    for (const bool late : {false, true}) {
      xplane::XSpaceBuilder space;
      for (size_t p = 0; p < file->planes().size(); ++p) {
        const xplane::Plane& plane = file->planes()[p];
        xplane::PlaneBuilder& copy = space.AddPlane(plane.name);
        for (size_t l = 0; l < plane.lines.size(); ++l) {
          const xplane::LineColumns& line = file->Line(p, l);
          xplane::LineBuilder& events = copy.AddLine(plane.lines[l].id, plane.lines[l].name, 0);
          for (uint32_t e = 0; e < line.event_count(); ++e) {
            if ((line.start_ps[e] >= middle_ps) != late) continue;
            const std::string_view name = plane.event_metadata[line.name[e]].name;
            events.AddEvent(copy.AddEventMetadata("e " + std::string(name)), line.start_ps[e],
                            line.duration_ps[e]);
          }
        }
      }
      halves.emplace_back(late ? "late" : "early", space.Serialize());
    }
    const auto split = SessionForTest(halves);
    const std::string query =
        "SELECT plane, kernel_name, count(*) n, sum(duration_ps) d FROM Events GROUP BY 1, 2";
    std::map<std::string, std::pair<int64_t, int64_t>> wanted;
    each_line([&](size_t p, size_t, const xplane::LineColumns& line) {
      const xplane::Plane& plane = file->planes()[p];
      for (uint32_t e = 0; e < line.event_count(); ++e) {
        auto& [count, total] = wanted[std::string(plane.name) + " e " +
                                      std::string(plane.event_metadata[line.name[e]].name)];
        ++count;
        total += line.duration_ps[e];
      }
    });
    std::map<std::string, std::pair<int64_t, int64_t>> found;
    const Value rows =
        MustAnswer("query_events_db", *split, {{"query", query}, {"limit", "0"}}).document;
    for (const Value& row : rows.Find("rows")->items()) {
      std::string name = row.Find("kernel_name")->string_value();
      if (name.starts_with("HLO Module:")) name = name.substr(sizeof "HLO Module:" - 1);
      found[row.Find("plane")->string_value() + " " + name] = {row.Find("n")->int_value(),
                                                               row.Find("d")->int_value()};
    }
    EXPECT_EQ(found.size(), wanted.size());
    EXPECT_TRUE(found == wanted);
  }
}

}  // namespace
}  // namespace strobe::tools
