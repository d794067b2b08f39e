#include "src/cli/resource_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

namespace strobe::cli {
namespace {

using Json = nlohmann::json;

Json BodyOf(const ResourceOptions& options) {
  const Result<std::string> body = ResourceBody(options);
  EXPECT_TRUE(body.ok()) << body.status().ToString();
  return body.ok() ? Json::parse(*body) : Json();
}

TEST(ResourceBodyTest, RunsAsGcloudSendsThem) {
  ResourceOptions options;
  options.verb = "create";
  EXPECT_EQ(BodyOf(options), Json::object());
  options.display_name = "llama";
  options.run_group = "g";
  options.gcs_path = "gs://b/r";
  options.run_phase = "active";
  options.orchestrator = "gke";
  options.labels = {"a=1,b=2", "c=x=y"};
  options.tools = {"xprof:sessionId=s", "smon"};
  options.software = {"framework=JAX"};
  options.fields = {"errorDetails=none"};
  options.etag = "e";
  EXPECT_EQ(BodyOf(options), Json::parse(R"({"displayName":"llama","runGroup":"g",
      "artifacts":{"gcsPath":"gs://b/r"},"runPhase":"ACTIVE","orchestrator":"GKE",
      "labels":{"a":"1","b":"2","c":"x=y"},"tools":[{"xprof":{"sessionId":"s"}},{"smon":{}}],
      "configs":{"softwareConfigs":{"framework":"JAX"}},"errorDetails":"none","etag":"e"})"));
}

TEST(ResourceBodyTest, CapturesInBothSpellingsOfLevels) {
  ResourceOptions options;
  options.kind = ResourceKind::kSession;
  options.verb = "capture";
  options.project = "p";
  options.location = "l";
  options.run = "r";
  options.id = "s";
  options.targets = {"a,projects/x/locations/y/machineLearningRuns/z/profilerTargets/b"};
  options.duration = "1500ms";
  options.host_level = "host-tracer-level-verbose";
  options.device_level = "disabled";
  EXPECT_EQ(BodyOf(options), Json::parse(R"({"kind":"KIND_ON_DEMAND",
      "name":"projects/p/locations/l/machineLearningRuns/r/profilerSessions/s",
      "profilerTargets":["projects/p/locations/l/machineLearningRuns/r/profilerTargets/a",
                         "projects/x/locations/y/machineLearningRuns/z/profilerTargets/b"],
      "duration":"1.500s","hostTracerLevel":"HOST_TRACER_LEVEL_VERBOSE",
      "deviceTracerLevel":"DEVICE_TRACER_LEVEL_DISABLED"})"));
}

TEST(ResourceBodyTest, WrongFlagsAreNamed) {
  const auto error = [](ResourceKind kind, auto ResourceOptions::* flag, auto value) {
    ResourceOptions options;
    options.kind = kind;
    options.*flag = value;
    return std::string(ResourceBody(options).status().name());
  };
  using Texts = std::vector<std::string>;
  const ResourceKind run = ResourceKind::kRun;
  EXPECT_EQ(error(run, &ResourceOptions::labels, Texts{"a"}), "FLAG_MALFORMED");
  EXPECT_EQ(error(run, &ResourceOptions::tools, Texts{"other"}), "FLAG_MALFORMED");
  EXPECT_EQ(error(run, &ResourceOptions::fields, Texts{"=x"}), "FIELD_MALFORMED");
  EXPECT_EQ(error(run, &ResourceOptions::fields, Texts{"a=x", "a.b=y"}), "FIELD_MALFORMED");
  EXPECT_EQ(error(ResourceKind::kSession, &ResourceOptions::duration, std::string("soon")),
            "FLAG_MALFORMED");
}

TEST(ResourceBodyTest, Durations) {
  for (const auto& [text, expected] : std::map<std::string, std::string>{
           {"5s", "5s"}, {"5", "5s"}, {"500ms", "0.500s"}, {"2m", "120s"}, {"1h", "3600s"}}) {
    EXPECT_EQ(DurationText(text).value(), expected);
  }
  for (const char* wrong : {"", "s", "-1s", "1.5s", "99999999999h", "5 s"}) {
    EXPECT_FALSE(DurationText(wrong).ok()) << wrong;
  }
}

TEST(FormatResourcesTest, EveryForm) {
  const std::string items =
      R"([{"name":"projects/p/x/a","state":"ACTIVE","n":1},{"name":"b","o":{"k":"v,w"}}])";
  const auto text = [&](const std::string& format) {
    const Result<std::string> shown = FormatResources(items, format, /*one=*/false);
    return shown.ok() ? *shown : std::string(shown.status().name());
  };
  EXPECT_EQ(text("value(name.basename(),state)"), "a\tACTIVE\nb\t\n");
  EXPECT_EQ(text("csv[no-heading](name.basename(),o.k)"), "a,\nb,\"v,w\"\n");
  EXPECT_EQ(text("csv(name.basename())"), "name\na\nb\n");
  EXPECT_EQ(text("yaml"),
            "---\nn: 1\nname: projects/p/x/a\nstate: ACTIVE\n---\nname: b\no:\n  k: \"v,w\"\n");
  EXPECT_THAT(text("table(name.basename(),state)"), testing::HasSubstr("NAME"));
  EXPECT_EQ(Json::parse(text("json")), Json::parse(items));
  for (const char* wrong : {"xml", "csv", "csv(", "csv[no-heading(name)", "value(a,,b)"}) {
    EXPECT_EQ(text(wrong), "FORMAT_MALFORMED") << wrong;
  }
}

}  // namespace
}  // namespace strobe::cli
