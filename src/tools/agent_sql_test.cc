// SQL over a made profile whose numbers are worked out by hand:
//
//   h0 /device:TPU:0, ns       0        10        20        30
//   XLA Modules                [jit_f(7): 0 - 20]
//   XLA Ops                    while 0-20 with dot 2-8 and add 10-14; dot 30-34 outside any module
//   h0 /host:CPU: main         call 1-5
//   h1 /device:GPU:1: Stream 9 kernel 3-7, correlation 42
#include "src/tools/agent_sql.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "src/tools/event_rows.h"
#include "src/tools/session_for_test.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::tools {
namespace {

constexpr int64_t kNs = 1000;

class AgentSqlTest : public ::testing::Test {
 protected:
  AgentSqlTest() {
    xplane::XSpaceBuilder tpu;
    xplane::PlaneBuilder& device = tpu.AddPlane("/device:TPU:0");
    device.AddLine(1, "XLA Modules", 0).AddEvent(device.AddEventMetadata("jit_f(7)"), 0, 20 * kNs);
    xplane::LineBuilder& ops = device.AddLine(3, "XLA Ops", 0);
    const int64_t dot = device.AddEventMetadata("%dot.1 = f32[8,8] dot(%a, %b)", "dot.1");
    device.EventMetadataStats(dot)
        .AddStat(device.StatId("flops"), uint64_t{1024})
        .AddStat(device.StatId("bytes_accessed"), uint64_t{768})
        .AddStat(device.StatId("tf_op"), "jit(f)/dot_general:")
        .AddStat(device.StatId("source"), "train.py:12");
    ops.AddEvent(device.AddEventMetadata("%while.2 = f32[8] while(%t)"), 0, 20 * kNs);
    ops.AddEvent(dot, 2 * kNs, 6 * kNs).AddStat(device.StatId("run_id"), int64_t{5});
    ops.AddEvent(device.AddEventMetadata("%add.3 = f32[8] add(%a, %b)"), 10 * kNs, 4 * kNs);
    ops.AddEvent(dot, 30 * kNs, 4 * kNs);
    xplane::PlaneBuilder& host = tpu.AddPlane("/host:CPU");
    host.AddLine(77, "main", 0).AddEvent(host.AddEventMetadata("call"), 1 * kNs, 4 * kNs);
    xplane::XSpaceBuilder gpu;
    xplane::PlaneBuilder& card = gpu.AddPlane("/device:GPU:1");
    card.AddLine(9, "Stream #9", 0)
        .AddEvent(card.AddEventMetadata("kernel"), 3 * kNs, 4 * kNs)
        .AddStat(card.StatId("correlation_id"), uint64_t{42});
    session_ = SessionForTest({{"h0", tpu.Serialize()}, {"h1", gpu.Serialize()}});
  }

  Value Ask(const std::string& query, const std::string& limit = "0") {
    return MustAnswer("query_events_db", *session_, {{"query", query}, {"limit", limit}}).document;
  }
  // The rows as text: "a|b;c|d".
  std::string Rows(const std::string& query) {
    std::string text;
    const Value document = Ask(query);
    for (const Value& row : document.Find("rows")->items()) {
      if (!text.empty()) text += ";";
      for (size_t i = 0; i < row.items().size(); ++i) {
        const Value& cell = row.items()[i];
        if (i > 0) text += "|";
        if (cell.kind() == Value::Kind::kInt64) text += std::to_string(cell.int_value());
        if (cell.kind() == Value::Kind::kString) text += cell.string_value();
      }
    }
    return text;
  }
  std::string ErrorName(const std::string& query) {
    const Result<ToolResult> result = Answer("query_events_db", *session_, {{"query", query}});
    return result.ok() ? "" : std::string(result.status().name());
  }

  std::shared_ptr<SessionInput> session_;
};

TEST_F(AgentSqlTest, EveryEventIsARow) {
  EXPECT_EQ(Rows("SELECT host, device, line, count(*) FROM Events GROUP BY 1, 2, 3"),
            "h0|TPU:0|XLA Modules|1;h0|TPU:0|XLA Ops|4;h0|cpu:0|main|1;h1|gpu:1|Stream #9|1");
}

TEST_F(AgentSqlTest, SelfTimeIsWithoutWhatRanInside) {
  // 20 - 6 - 4 of the loop, and its parts.
  EXPECT_EQ(Rows("SELECT hlo_op, self_time_ns, start_ns, end_ns FROM Events "
                 "WHERE category = 'XLA Ops' ORDER BY start_ns"),
            "while.2|10|0|20;dot.1|6|2|8;add.3|4|10|14;dot.1|4|30|34");
}

TEST_F(AgentSqlTest, OpsKnowTheirModuleWhileItRuns) {
  EXPECT_EQ(Rows("SELECT hlo_op, hlo_module FROM Events WHERE hlo_op = 'dot.1' ORDER BY start_ps"),
            "dot.1|jit_f(7);dot.1|");
}

TEST_F(AgentSqlTest, StatsOfTheOpAreColumns) {
  EXPECT_EQ(Rows("SELECT flops, memory_accessed, tf_op_name, tf_op_type, source_line, trace_args "
                 "FROM Events WHERE start_ns = 2 AND line = 'XLA Ops'"),
            "1024|768|jit(f)/dot_general|dot_general|train.py:12|run_id=5");
  EXPECT_EQ(Rows("SELECT stream_id, thread_id, correlation_id FROM Events WHERE host = 'h1'"),
            "9||42");
  EXPECT_EQ(Rows("SELECT stream_id, thread_id, thread_name FROM Events WHERE category = 'host'"),
            "|77|main");
}

TEST_F(AgentSqlTest, HostsAreThoseAsked) {
  const ToolResult one = MustAnswer("query_events_db", *session_,
                                    {{"query", "SELECT count(*) AS n FROM Events"}}, false, {1});
  EXPECT_EQ(one.document.Find("rows")->items()[0].Find("n")->int_value(), 1);
}

TEST_F(AgentSqlTest, ACutAnswerSaysSo) {
  const Value cut = Ask("SELECT name FROM Events", "2");
  EXPECT_EQ(cut.Find("returned")->int_value(), 2);
  EXPECT_TRUE(cut.Find("truncated")->bool_value());
  EXPECT_EQ(cut.Find("truncated_by")->string_value(), "limit");
  const Value whole = Ask("SELECT name FROM Events", "7");
  EXPECT_EQ(whole.Find("returned")->int_value(), 7);
  EXPECT_FALSE(whole.Find("truncated")->bool_value());
}

TEST_F(AgentSqlTest, ColumnsOfOneNameAreKeptApart) {
  const Value twice = Ask("SELECT line, line FROM Events LIMIT 1");
  EXPECT_EQ(twice.Find("columns")->items()[1].string_value(), "line_2");
}

TEST_F(AgentSqlTest, WithoutAQueryTheColumnsAreNamed) {
  const Value help = Ask("");
  EXPECT_EQ(help.Find("columns")->items().size(), EventColumns().size());
  for (const Value& column : help.Find("columns")->items()) {
    EXPECT_EQ(ErrorName("SELECT " + column.Find("name")->string_value() + " FROM Events"), "");
  }
}

TEST_F(AgentSqlTest, OnlyReadingIsAllowed) {
  for (const char* query :
       {"SELECT 1; SELECT 2", "ATTACH 'x' AS y", "PRAGMA table_info(Events)", "VACUUM",
        "CREATE TABLE t(x)", "CREATE VIEW v AS SELECT 1", "SELECT load_extension('x')", "BEGIN",
        "EXPLAIN SELECT 1; DROP TABLE Events"}) {
    EXPECT_EQ(ErrorName(query), "SQL_NOT_READ_ONLY") << query;
  }
  EXPECT_EQ(ErrorName("DELETE FROM Events"), "SQL_INVALID");
  EXPECT_EQ(ErrorName("INSERT INTO Events(host) VALUES ('x')"), "SQL_NOT_READ_ONLY");
  EXPECT_EQ(ErrorName("SELECT nothing FROM Events"), "SQL_INVALID");
  EXPECT_EQ(ErrorName("SELECT"), "SQL_INVALID");
  EXPECT_EQ(ErrorName(std::string(kMaxSqlBytes + 1, ' ') + "SELECT 1"), "SQL_TOO_LONG");
}

TEST_F(AgentSqlTest, LimitsNameThemselvesAndTheirOption) {
  const auto limited = [&](const std::string& query, const std::string& option,
                           const std::string& value) {
    const Result<ToolResult> result =
        Answer("query_events_db", *session_, {{"query", query}, {option, value}});
    if (result.ok()) return std::string();
    EXPECT_NE(result.status().hint().find(option), std::string::npos) << result.status().ToString();
    return std::string(result.status().name());
  };
  const std::string endless =
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT sum(x) FROM c";
  EXPECT_EQ(limited(endless, "max_steps", "20000"), "SQL_LIMIT_STEPS");
  EXPECT_EQ(limited(endless, "max_seconds", "1"), "SQL_LIMIT_TIME");
  EXPECT_EQ(
      limited("WITH RECURSIVE c(x, t) AS (SELECT 1, printf('%1000d', 1) UNION ALL SELECT x + 1, "
              "t || x FROM c) SELECT x, t FROM c ORDER BY t",
              "max_memory_mib", "1"),
      "SQL_LIMIT_MEMORY");
  EXPECT_EQ(ErrorName("SELECT 1"), "");
  for (const char* value : {"0", "-1", "4000"}) {
    const Result<ToolResult> result =
        Answer("query_events_db", *session_, {{"query", "SELECT 1"}, {"max_seconds", value}});
    EXPECT_EQ(result.ok() ? "" : result.status().name(), "OPTION_INVALID") << value;
  }
}

TEST_F(AgentSqlTest, SearchesAreSqlitesButForLongOnes) {
  EXPECT_EQ(Rows("SELECT instr('añb', 'b'), instr('abc', 'x'), instr('abc', '')"), "3|0|1");
  EXPECT_EQ(Rows("SELECT replace('aXbX', 'X', '--'), replace('ab', '', 'x')"), "a--b--|ab");
  EXPECT_EQ(Rows("SELECT trim('  a '), ltrim('xxya', 'xy'), rtrim('añññ', 'ñ')"), "a|a|a");
  EXPECT_EQ(Rows("SELECT instr(NULL, 'a') IS NULL, replace('a', NULL, '') IS NULL"), "1|1");
  EXPECT_EQ(ErrorName("SELECT instr(printf('%5000d', 1), printf('%300d', 1))"), "SQL_INVALID");
  EXPECT_EQ(ErrorName("SELECT name FROM Events WHERE name LIKE printf('%%%300d', 1)"),
            "SQL_INVALID");
}

TEST_F(AgentSqlTest, NothingIsMadeOutOfNothing) {
  for (const char* query :
       {"SELECT randomblob(1000)", "SELECT zeroblob(1000)", "SELECT random()"}) {
    EXPECT_EQ(ErrorName(query), "SQL_NOT_READ_ONLY") << query;
  }
  // SQLite itself gives nothing for a text beyond its limit.
  EXPECT_EQ(Rows("SELECT count(*) FROM (SELECT 1) WHERE length(printf('%2000000d', 1)) > 0"), "0");
}

TEST_F(AgentSqlTest, ACancelledQuestionStops) {
  CancelSource source;
  source.Cancel();
  const ToolDescriptor* tool = FindTool("query_events_db");
  ToolQuestion question;
  question.options = *ToolOptions::Parse(tool->options, {{"query", "SELECT count(*) FROM Events"}},
                                         ToolOptions::Policy::kStrict);
  question.hosts = {0, 1};
  const Result<ToolResult> result = tool->run(question, *session_, source.token());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kCancelled);
}

TEST_F(AgentSqlTest, TheFileHoldsTheSameRows) {
  const ToolResult made = MustAnswer("create_events_db", *session_);
  EXPECT_EQ(made.content_type, "application/vnd.sqlite3");
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(":memory:", &database), SQLITE_OK);
  std::string bytes = made.text;
  ASSERT_EQ(
      sqlite3_deserialize(database, "main", reinterpret_cast<unsigned char*>(bytes.data()),
                          static_cast<sqlite3_int64>(bytes.size()),
                          static_cast<sqlite3_int64>(bytes.size()), SQLITE_DESERIALIZE_READONLY),
      SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  ASSERT_EQ(sqlite3_prepare_v2(database, "SELECT count(*), sum(self_time_ns) FROM Events", -1,
                               &statement, nullptr),
            SQLITE_OK);
  ASSERT_EQ(sqlite3_step(statement), SQLITE_ROW);
  EXPECT_EQ(sqlite3_column_int64(statement, 0), 7);
  EXPECT_EQ(sqlite3_column_int64(statement, 1), 20 + 10 + 6 + 4 + 4 + 4 + 4);
  sqlite3_finalize(statement);
  sqlite3_close(database);
}

// What the events database of XProf's command line answered for the same profiles.
TEST(RealAgentSqlTest, CountsAndTimesAreThoseOfXprof) {
  STROBE_NEED_CORPUS(xplane::CorpusDirectory());
  struct Recorded {
    const char* session;
    const char* where;
    int64_t count;
    int64_t self_ns;
    int64_t modules;
  };
  const Recorded recorded[] = {
      {"tpu-v6e-4-inference", "device = 'TPU:0' AND category = 'XLA Ops'", 1504, 78784927081, 1504},
      {"tpu-v6e-4-inference", "device = 'TPU:1' AND category = 'XLA Ops'", 1503, 78789508759, 1503},
      {"tpu-v6e-4-inference", "device = 'TPU:0' AND category = 'XLA Modules'", 105, 78809571500, 0},
      {"gpu-mi300-attention", "stream_id = 16", 87, 3763002, 87},
      {"gpu-mi300-attention", "stream_id = 17", 18, 82560, 0},
  };
  for (const Recorded& answer : recorded) {
    SCOPED_TRACE(std::string(answer.session) + " " + answer.where);
    const auto entries =
        xplane::ListSessions(xplane::CorpusDirectory() / "sessions" / answer.session, {});
    ASSERT_TRUE(entries.ok());
    const auto session = OpenSessionForTest(entries->at(0));
    const Value document =
        MustAnswer("query_events_db", *session,
                   {{"query", std::string("SELECT count(*) n, sum(self_time_ns) s, "
                                          "count(hlo_module) m FROM Events WHERE ") +
                                  answer.where}})
            .document;
    const Value& row = document.Find("rows")->items().at(0);
    EXPECT_EQ(row.Find("n")->int_value(), answer.count);
    EXPECT_EQ(row.Find("s")->int_value(), answer.self_ns);
    EXPECT_EQ(row.Find("m")->int_value(), answer.modules);
  }
}

}  // namespace
}  // namespace strobe::tools
