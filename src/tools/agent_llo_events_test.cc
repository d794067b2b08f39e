// Recorded LLO in SQL, over a made TPU plane.
#include "src/tools/agent_llo_events.h"

#include <gtest/gtest.h>

#include "src/tools/session_for_test.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::tools {
namespace {

std::shared_ptr<SessionInput> Made(bool with_llo) {
  xplane::XSpaceBuilder space;
  xplane::PlaneBuilder& tpu = space.AddPlane("/device:TPU:0");
  tpu.AddLine(1, "XLA Ops", 0).AddEvent(tpu.AddEventMetadata("fusion.1"), 0, 100);
  if (with_llo) {
    const int64_t load = tpu.AddEventMetadata("vld");
    tpu.EventMetadataStats(load)
        .AddStat(tpu.StatId("source_info"), "kernel.py:3")
        .AddStat(tpu.StatId("unit_id"), int64_t{9});
    xplane::LineBuilder& vld = tpu.AddLine(2, "VLD Instructions", 0);
    vld.AddEvent(load, 0, 5).AddStat(tpu.StatId("bundle_number"), uint64_t{7});
    vld.AddEvent(load, 10, 5).AddStat(tpu.StatId("unit_id"), "1");
    tpu.AddLine(3, "MXU0 Instructions", 0).AddEvent(tpu.AddEventMetadata("vmatmul"), 20, 8);
    tpu.AddLine(4, "Pallas Primitives", 0).AddEvent(tpu.AddEventMetadata("dot"), 0, 40);
  }
  return SessionForTest({{"h", space.Serialize()}});
}

Value Asked(const std::string& query) {
  return MustAnswer("llo_query", *Made(true), {{"query", query}}).document;
}

TEST(LloQueryTest, RowsAreTheEventsOfLloLines) {
  const Value answer = Asked(
      "SELECT line_name, event_name, offset_ps, duration_ps, source_info, bundle_number, unit_id "
      "FROM llo_events ORDER BY offset_ps, duration_ps");
  const std::vector<Value>& rows = answer.Find("rows")->items();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].Find("line_name")->string_value(), "VLD Instructions");
  EXPECT_EQ(rows[0].Find("source_info")->string_value(), "kernel.py:3");
  EXPECT_EQ(rows[0].Find("bundle_number")->int_value(), 7);
  EXPECT_EQ(rows[0].Find("unit_id")->int_value(), 9);
  EXPECT_EQ(rows[2].Find("unit_id")->int_value(), 1);  // the event's own before its kind's
  EXPECT_EQ(rows[3].Find("event_name")->string_value(), "vmatmul");
}

TEST(LloQueryTest, PreparedQuestionsHaveNames) {
  const Value mix = Asked("instruction_mix");
  EXPECT_EQ(mix.Find("rows")->items()[0].Find("event_name")->string_value(), "vld");
  EXPECT_EQ(mix.Find("rows")->items()[0].Find("count")->int_value(), 2);
  const Value primitives = Asked("top_pallas_primitives");
  EXPECT_EQ(primitives.Find("rows")->items()[0].Find("total_duration_ps")->int_value(), 40);
  EXPECT_EQ(Asked("longest_events").Find("rows")->items().size(), 4U);
}

TEST(LloQueryTest, OnlyReadingIsAllowed) {
  const Result<ToolResult> result =
      Answer("llo_query", *Made(true), {{"query", "DELETE FROM llo_events"}});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().name(), "SQL_NOT_READ_ONLY");
}

TEST(LloQueryTest, WithoutLloItNamesTheOptionThatRecordsIt) {
  const Value answer = MustAnswer("llo_query", *Made(false)).document;
  EXPECT_EQ(answer.Find("status")->string_value(), "NO_DATA");
  EXPECT_NE(answer.Find("required_flags")->items()[0].string_value().find("custom_call_tracing"),
            std::string::npos);
  EXPECT_EQ(Answer("llo_load", *Made(false)).status().name(), "LLO_EVENTS_ABSENT");
}

TEST(LloLoadTest, TheFileIsADatabase) {
  const ToolResult made = MustAnswer("llo_load", *Made(true));
  EXPECT_EQ(made.content_type, "application/vnd.sqlite3");
  EXPECT_EQ(made.text.substr(0, 15), "SQLite format 3");
}

}  // namespace
}  // namespace strobe::tools
