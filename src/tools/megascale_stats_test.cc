#include "src/tools/megascale_stats.h"

#include <gtest/gtest.h>

#include "src/hlo/hlo_text_parser.h"
#include "src/tools/input_for_test.h"
#include "src/tools/megascale_trace.h"
#include "src/wire/compress.h"
#include "src/wire/wire_writer.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::tools {
namespace {

constexpr std::string_view kModule = R"(HloModule jit_f

ENTRY %main (x: f32[1024]) -> f32[1024] {
  %x = f32[1024]{0} parameter(0)
  %t = token[] after-all()
  %send.1 = (f32[1024]{0}, u32[], token[]) send(%x, %t), channel_id=5, is_host_transfer=true, frontend_attributes={_xla_host_transfer_rendezvous="r0",_xla_megascale_transfer_type="ALL_GATHER"}
  %recv.1 = (f32[1024]{0}, u32[], token[]) recv(%t), channel_id=6, is_host_transfer=true, frontend_attributes={_xla_host_transfer_rendezvous="r0"}
  %send-done.1 = token[] send-done(%send.1), channel_id=5, is_host_transfer=true
  %recv-done.1 = (f32[1024]{0}, token[]) recv-done(%recv.1), channel_id=6, is_host_transfer=true
  ROOT %r = f32[1024]{0} get-tuple-element(%recv-done.1), index=0
}
)";

constexpr int64_t kUs = 1'000'000;  // picoseconds

std::string Profile() {
  xplane::XSpaceBuilder space;
  xplane::PlaneBuilder& host = space.AddPlane("/host:CPU", 1);
  host.AddEventMetadata("MegaScale: Communication Transport Receive");
  xplane::PlaneBuilder& tpu = space.AddPlane("/device:TPU:0", 2);
  xplane::LineBuilder& modules = tpu.AddLine(1, "XLA Modules", 0);
  modules.AddEvent(tpu.AddEventMetadata("jit_f(3)"), 0, 1'000 * kUs);
  xplane::LineBuilder& ops = tpu.AddLine(2, "XLA Ops", 0);
  // Two endpoints in the group.
  std::string group;
  wire::AppendBytesField(1, "", &group);
  wire::AppendBytesField(1, "", &group);
  std::string info;
  wire::AppendBytesField(2, group, &info);
  const auto op = [&](std::string_view name, std::string_view category, int64_t start, int64_t us) {
    const int64_t id = tpu.AddEventMetadata("%" + std::string(name) + " = ...", name);
    xplane::StatSink& sink = tpu.EventMetadataStats(id);
    sink.AddStat(tpu.StatId("hlo_category"), category);
    if (name == "send.1") sink.AddBytesStat(tpu.StatId("dcn_collective_info"), info);
    ops.AddEvent(id, start * kUs, us * kUs);
  };
  op("send.1", "host send", 10, 2);
  op("recv.1", "host recv", 20, 3);
  op("send-done.1", "host send-done", 100, 4);
  op("recv-done.1", "host recv-done", 200, 50);
  return space.Serialize();
}

TEST(MegascaleStatsTest, SlackIsTheTimeThatNobodyWaits) {
  const auto text = hlo::HloProtoFromText(kModule);
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  TestSession session;
  session.AddHost("h", Profile());
  session.AddModule("jit_f(3)", text->hlo_proto);
  const auto result = session.Ask(MakeMegascaleStatsTool(), {}, /*as_xprof=*/false);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  const Table& table = result->tables[0];
  ASSERT_EQ(table.rows().size(), 1u);
  const auto number = [&](std::string_view column) {
    return std::get<double>(table.rows()[0][table.ColumnIndex(column)].value);
  };
  // 200 - 10 us, less send, recv and send-done: 2 + 3 + 4.
  EXPECT_EQ(number("slack_time"), 0.181);
  EXPECT_EQ(number("observed_duration"), 0.240);
  EXPECT_EQ(number("recv_stall"), 0.003);
  EXPECT_EQ(number("recv_done_stall"), 0.050);
  EXPECT_EQ(number("stall_duration"), 0.059);
  EXPECT_EQ(number("occurrences"), 1);
  // (G - 1) S / G of 4,096 bytes and a token, G = 2.
  EXPECT_EQ(number("net_tx_bytes"), 2'048);
  EXPECT_NEAR(number("required_bandwidth"), 2'048.0 / 181 * 8e-3, 1e-12);
}

TEST(MegascaleStatsTest, WithoutTransfersItSaysSo) {
  TestSession session;
  xplane::XSpaceBuilder space;
  space.AddPlane("/host:CPU", 1);
  session.AddHost("h", space.Serialize());
  const auto result = session.Ask(MakeMegascaleStatsTool(), {});
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->tables[0].rows().empty());
  ASSERT_EQ(result->notices.size(), 1u);
  EXPECT_EQ(result->notices[0].name, "NO_DCN_TRANSFERS");
}

TEST(MegascaleTraceTest, RunsOfTinyEventsAreOneAndSendsFlowToDones) {
  xplane::XSpaceBuilder space;
  xplane::PlaneBuilder& tpu = space.AddPlane("/device:TPU:0", 2);
  xplane::LineBuilder& modules = tpu.AddLine(1, "XLA Modules", 0);
  modules.AddEvent(tpu.AddEventMetadata("jit_f(3)"), 0, 1'000 * kUs)
      .AddStat(tpu.StatId("run_id"), uint64_t{77});
  xplane::LineBuilder& ops = tpu.AddLine(2, "XLA Ops", 0);
  ops.AddEvent(tpu.AddEventMetadata("a"), 5'000, 100);
  ops.AddEvent(tpu.AddEventMetadata("b"), 5'200, 100);
  const std::string attribute = " = send(x), _xla_host_transfer_rendezvous=\"r0\"";
  ops.AddEvent(tpu.AddEventMetadata("%send.1" + attribute, "send.1"), 10'000, 2'000);
  ops.AddEvent(tpu.AddEventMetadata("%send-done.1 = send-done(s)", "send-done.1"), 20'000, 2'000);
  const auto file = xplane::MustOpen(space.Serialize());
  auto tpus = LoadTpuTracks(*file, /*as_xprof=*/false, CancelToken());
  ASSERT_TRUE(tpus.ok());
  AddFlows(&*tpus);
  ASSERT_EQ(tpus->size(), 1u);
  const std::vector<TraceEvent>& events = (*tpus)[0].lines.at(kOpsLine).events;
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].name, "2 events are hidden");
  EXPECT_EQ(events[0].Text("hidden_events"), "a, b");
  EXPECT_EQ(events[1].Whole("run_id"), 77);
  ASSERT_EQ(events[1].flows.out.size(), 1u);
  EXPECT_EQ(events[1].flows.out, events[2].flows.in);
}

TEST(MegascaleTraceTest, WithoutTpuTheStreamIsEmpty) {
  TestSession session;
  xplane::XSpaceBuilder space;
  space.AddPlane("/host:CPU", 1);
  session.AddHost("h", space.Serialize());
  const auto result = session.Ask(MakeMegascaleStatsTool(), {{"perfetto", "true"}});
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->text, wire::GzipCompress(""));
}

}  // namespace
}  // namespace strobe::tools
