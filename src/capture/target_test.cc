#include "src/capture/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/capture/capture.h"

namespace strobe::capture {
namespace {

TEST(TargetTest, NamesAndAddresses) {
  struct Case {
    const char* text;
    const char* grpc_address;
    const char* file_host;
    bool loopback;
  };
  for (const Case& expected : {
           Case{"127.0.0.1:9012", "ipv4:127.0.0.1:9012", "127.0.0.1", true},
           Case{"127.8.9.1:1", "ipv4:127.8.9.1:1", "127.8.9.1", true},
           Case{"10.0.0.7:65535", "ipv4:10.0.0.7:65535", "10.0.0.7", false},
           Case{"localhost:9012", "dns:///localhost:9012", "localhost", true},
           Case{"Node0.Example.com:9012", "dns:///node0.example.com:9012", "node0.example.com",
                false},
           Case{"tpu-worker_3:80", "dns:///tpu-worker_3:80", "tpu-worker_3", false},
           Case{"[::1]:9012", "ipv6:%5B::1%5D:9012", "__1", true},
           Case{"[2001:DB8:0::7]:9", "ipv6:%5B2001:db8::7%5D:9", "2001_db8__7", false},
           Case{"[::ffff:127.0.0.1]:9", "ipv6:%5B::ffff:127.0.0.1%5D:9", "__ffff_127.0.0.1", true},
       }) {
    const Result<Target> target = ParseTarget(expected.text);
    ASSERT_TRUE(target.ok()) << expected.text << ": " << target.status().ToString();
    EXPECT_EQ(target->grpc_address, expected.grpc_address);
    EXPECT_EQ(target->file_host(), expected.file_host);
    EXPECT_EQ(target->is_loopback, expected.loopback) << expected.text;
    EXPECT_TRUE(IsSafeName(target->file_host()));
    EXPECT_TRUE(IsSafeName(target->file_host_port()));
  }
  EXPECT_EQ(ParseTarget("34.83.195.179:6003")->file_host_port(), "34.83.195.179_6003");
}

TEST(TargetTest, NothingButHostAndPort) {
  for (const std::string& text : {std::string(""),
                                  std::string("localhost"),
                                  std::string(":9012"),
                                  std::string("a:"),
                                  std::string("a:0"),
                                  std::string("a:65536"),
                                  std::string("a:70000"),
                                  std::string("a:-1"),
                                  std::string("a:+1"),
                                  std::string("a:1e3"),
                                  std::string("a:0x50"),
                                  std::string("a: 80"),
                                  std::string("a:80 "),
                                  std::string(" a:80"),
                                  std::string("a b:80"),
                                  std::string("a\n:80"),
                                  std::string("a:8\0"
                                              "0",
                                              5),
                                  std::string("a\0b:80", 6),
                                  std::string("../../x"),
                                  std::string("../../x:80"),
                                  std::string("a/b"),
                                  std::string("a/b:80"),
                                  std::string("a:80/b"),
                                  std::string("a:80?x"),
                                  std::string("a:80#x"),
                                  std::string("user@a:80"),
                                  std::string("unix:/tmp/x.sock"),
                                  std::string("unix:x:80"),
                                  std::string("unix-abstract:x"),
                                  std::string("dns:///a:80"),
                                  std::string("dns:a:80"),
                                  std::string("ipv4:1.2.3.4:80"),
                                  std::string("xds:///a:80"),
                                  std::string("grpc://a:80"),
                                  std::string("http://a:80"),
                                  std::string("a:80,b:80"),
                                  std::string("::1:80"),
                                  std::string("[::1]"),
                                  std::string("[::1]80"),
                                  std::string("[::1]:"),
                                  std::string("[::1:80"),
                                  std::string("[fe80::1%eth0]:80"),
                                  std::string("[1.2.3.4]:80"),
                                  std::string("[]:80"),
                                  std::string("[v1.x]:80"),
                                  std::string("1.2.3:80"),
                                  std::string("1.2.3.4.5:80"),
                                  std::string("256.1.1.1:80"),
                                  std::string("2130706433:80"),
                                  std::string("0x7f.1:80"),
                                  std::string("0x7f000001:80"),
                                  std::string("a..b:80"),
                                  std::string("a.:80"),
                                  std::string(".a:80"),
                                  std::string("-a:80"),
                                  std::string("a-:80"),
                                  std::string("a.-b:80"),
                                  std::string("ä:80"),
                                  std::string("a%2e:80"),
                                  std::string("$(id):80"),
                                  std::string("a;b:80"),
                                  std::string(64, 'a') + ":80",
                                  std::string(4096, 'a'),
                                  std::string(4096, 'a') + ":80",
                                  std::string(4096, ':'),
                                  std::string(300, '.') + ":80"}) {
    const Result<Target> target = ParseTarget(text);
    ASSERT_FALSE(target.ok()) << text;
    EXPECT_EQ(target.status().name(), "CAPTURE_BAD_TARGET");
    EXPECT_LT(target.status().message().size(), 400u);
    EXPECT_FALSE(target.status().hint().empty());
  }
}

TEST(TargetTest, Lists) {
  EXPECT_EQ(ParseTargets({}).status().name(), "CAPTURE_NO_TARGET");
  EXPECT_EQ(ParseTargets({"a:1", "b:2"})->size(), 2u);
  EXPECT_EQ(ParseTargets({"a:1", "A:01"}).status().name(), "CAPTURE_BAD_TARGET");  // the same
  EXPECT_EQ(ParseTargets({"a:1", "b"}).status().name(), "CAPTURE_BAD_TARGET");
  std::vector<std::string> many;
  for (size_t i = 0; i < kMaxTargets; ++i) many.push_back("node" + std::to_string(i) + ":1");
  EXPECT_TRUE(ParseTargets(many).ok());
  many.push_back("one-more:1");
  EXPECT_EQ(ParseTargets(many).status().name(), "CAPTURE_TOO_MANY_TARGETS");
}

TEST(TargetTest, SafeNames) {
  for (const char* name :
       {"a", "2026_11_29_14_31_07_482_9f3a", "node0.example.com", "_x", "A-b."}) {
    EXPECT_TRUE(IsSafeName(name)) << name;
  }
  for (const std::string& name :
       {std::string(""), std::string("."), std::string(".."), std::string(".hidden"),
        std::string("-x"), std::string("../../x"), std::string("a/b"), std::string("a\\b"),
        std::string("a b"), std::string("a:b"), std::string("a\0b", 3), std::string("ä"),
        std::string(201, 'a'), std::string(4096, 'a')}) {
    EXPECT_FALSE(IsSafeName(name)) << name;
    EXPECT_EQ(CheckName("session", name).name(), "CAPTURE_BAD_NAME");
  }
}

TEST(TargetTest, Runs) {
  for (const char* run : {"", "llama", "team/llama/run1", "a/b/c/d/e/f/g/h"}) {
    EXPECT_TRUE(CheckRun(run).ok()) << run;
  }
  for (const char* run :
       {"/", "/a", "a/", "a//b", "..", "a/../b", "../../x", "a/./b", "a b", "a/b/c/d/e/f/g/h/i"}) {
    EXPECT_EQ(CheckRun(run).name(), "CAPTURE_BAD_NAME") << run;
  }
}

TEST(TargetTest, TextOfPeersIsCleaned) {
  EXPECT_EQ(CleanText("plain"), "plain");
  EXPECT_EQ(CleanText("a\x1b[31m\nb\x7f"), "a [31m b ");
  EXPECT_EQ(CleanText("\xff"), "\xEF\xBF\xBD");
  EXPECT_EQ(CleanText(std::string(1000, 'x'), 10), "xxxxxxxxxx...");
}

}  // namespace
}  // namespace strobe::capture
