#include "src/base/address_policy.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>

namespace strobe {
namespace {

// Names as a hostile resolver answers them.
Result<std::vector<std::string>> HostileDns(const std::string& host) {
  static const std::map<std::string, std::vector<std::string>> answers = {
      {"localhost", {"127.0.0.1"}},
      {"localtest.example", {"127.0.0.1"}},
      {"rebind.example", {"93.184.216.34", "127.0.0.1"}},
      {"rebind6.example", {"2606:2800:220:1::1", "::1"}},
      {"metadata.google.internal", {"169.254.169.254"}},
      {"mapped.example", {"::ffff:127.0.0.1"}},
      {"nat64.example", {"64:ff9b::7f00:1"}},
      {"sixtofour.example", {"2002:7f00:1::"}},
      {"zone.example", {"fe80::1%eth0"}},
      {"empty.example", {}},
      {"inner.example", {"10.1.2.3"}},
      {"good.example", {"93.184.216.34"}},
      {"a.tpu.example", {"10.9.9.9"}},
      // What inet_aton makes of numbers, and getaddrinfo with it.
      {"2130706433", {"127.0.0.1"}},
      {"0x7f000001", {"127.0.0.1"}},
      {"0x7f.1", {"127.0.0.1"}},
      {"0177.0.0.1", {"127.0.0.1"}},
      {"017700000001", {"127.0.0.1"}},
      {"127.1", {"127.0.0.1"}},
      {"127.0.1", {"127.0.0.1"}},
      {"0", {"0.0.0.0"}},
      {"2852039166", {"169.254.169.254"}},
      {"0xa9fea9fe", {"169.254.169.254"}},
      {"0251.0376.0251.0376", {"169.254.169.254"}}};
  const auto found = answers.find(host);
  if (found == answers.end()) return UnavailableError("ADDRESS_UNKNOWN", "There is no such name.");
  return found->second;
}

// Every one of these must lead nowhere.
std::vector<std::string> Payloads() {
  std::vector<std::string> payloads = {"127.0.0.1",
                                       "127.0.0.2",
                                       "127.255.255.255",
                                       "127.1",
                                       "127.0.1",
                                       "0",
                                       "0.0.0.0",
                                       "0.1.2.3",
                                       "2130706433",
                                       "0x7f000001",
                                       "0x7f.1",
                                       "0177.0.0.1",
                                       "017700000001",
                                       "localhost",
                                       "LOCALHOST",
                                       "localhost.",
                                       "localtest.example",
                                       "rebind.example",
                                       "rebind6.example",
                                       "mapped.example",
                                       "nat64.example",
                                       "sixtofour.example",
                                       "zone.example",
                                       "empty.example",
                                       "inner.example",
                                       "::1",
                                       "::",
                                       "0:0:0:0:0:0:0:1",
                                       "0000:0000:0000:0000:0000:0000:0000:0001",
                                       "::ffff:127.0.0.1",
                                       "::ffff:7f00:1",
                                       "::127.0.0.1",
                                       "::7f00:1",
                                       "::ffff:0:127.0.0.1",
                                       "64:ff9b::127.0.0.1",
                                       "64:ff9b::7f00:1",
                                       "64:ff9b::a9fe:a9fe",
                                       "64:ff9b:1::1",
                                       "2002:7f00:1::",
                                       "2002:a9fe:a9fe::",
                                       "2002:0a00:0001::",
                                       "2001:0:1::1",
                                       "2001:db8::1",
                                       "fe80::1",
                                       "fe80::1%lo",
                                       "febf::1",
                                       "fec0::1",
                                       "fc00::1",
                                       "fd00::1",
                                       "fd00:ec2::254",
                                       "fd20:ce::254",
                                       "ff02::1",
                                       "ff05::2",
                                       "100::1",
                                       "3fff::1",
                                       "4000::1",
                                       "::2",
                                       "10.0.0.1",
                                       "10.255.255.255",
                                       "172.16.0.1",
                                       "172.31.255.255",
                                       "192.168.0.1",
                                       "192.168.255.255",
                                       "100.64.0.1",
                                       "100.127.255.255",
                                       "100.100.100.200",
                                       "169.254.169.254",
                                       "169.254.170.2",
                                       "169.254.0.1",
                                       "168.63.129.16",
                                       "192.0.0.192",
                                       "192.0.0.1",
                                       "192.0.2.1",
                                       "198.18.0.1",
                                       "198.19.255.255",
                                       "198.51.100.1",
                                       "203.0.113.1",
                                       "224.0.0.1",
                                       "239.255.255.255",
                                       "240.0.0.1",
                                       "255.255.255.255",
                                       "2852039166",
                                       "0xa9fea9fe",
                                       "0251.0376.0251.0376",
                                       "metadata.google.internal",
                                       "METADATA.google.internal.",
                                       "",
                                       ".",
                                       "..",
                                       "127.0.0.1/x",
                                       "127.0.0.1#x",
                                       "127.0.0.1?x",
                                       "good.example@127.0.0.1",
                                       "127.0.0.1@good.example",
                                       "http://127.0.0.1",
                                       "//127.0.0.1",
                                       "127.0.0.1:80",
                                       "[::1]",
                                       "[127.0.0.1]",
                                       "127.0.0.1 ",
                                       " 127.0.0.1",
                                       "127.0.0.1\t",
                                       "127.0.0.1\n",
                                       "127.0.0.1\r\nX: y",
                                       "127。0。0。1",
                                       "①②⑦.⓪.⓪.①",
                                       "good.example\\@127.0.0.1",
                                       "unix:/tmp/socket",
                                       "file:///etc/passwd",
                                       "dns:///localhost",
                                       "ipv4:127.0.0.1",
                                       "xn--nothing",
                                       "%31%32%37.0.0.1",
                                       "127.0.0.1%00good.example",
                                       "0x7f.0x0.0x0.0x1",
                                       "1.2.3.4.5",
                                       "256.1.1.1",
                                       "-1",
                                       "1e3"};
  payloads.push_back(std::string("127.0.0.1\0good.example", 22));
  payloads.push_back(std::string(300, 'a'));
  return payloads;
}

TEST(AddressPolicyTest, HostileTargetsReachNobody) {
  // Whatever got through would be connected to here.
  const int trap = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  ASSERT_EQ(bind(trap, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(trap, 64), 0);
  socklen_t size = sizeof(address);
  ASSERT_EQ(getsockname(trap, reinterpret_cast<sockaddr*>(&address), &size), 0);

  const std::vector<std::string> payloads = Payloads();
  EXPECT_GE(payloads.size(), 100u);
  for (const std::vector<std::string>& patterns : {std::vector<std::string>{},
                                                   {"*.allowed.example"},
                                                   {"93.184.216.0/24", "allowed.example"}}) {
    const AddressPolicy policy = AddressPolicy::Make(patterns, HostileDns).value();
    for (const std::string& payload : payloads) {
      const Result<std::string> admitted = policy.Admit(payload);
      EXPECT_FALSE(admitted.ok()) << payload << " -> " << admitted.value();
      if (!admitted.ok()) continue;
      const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in to = address;
      if (inet_pton(AF_INET, admitted->c_str(), &to.sin_addr) == 1) {
        connect(client, reinterpret_cast<sockaddr*>(&to), sizeof(to));
      }
      close(client);
    }
  }
  pollfd ready{.fd = trap, .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&ready, 1, 0), 0) << "the trap was stepped on";
  close(trap);
}

TEST(AddressPolicyTest, AllowsWhatTheOwnerNamed) {
  const auto admit = [](const std::vector<std::string>& patterns, const std::string& host) {
    const Result<std::string> address = AddressPolicy::Make(patterns, HostileDns)->Admit(host);
    return address.ok() ? *address : std::string(address.status().name());
  };
  EXPECT_EQ(admit({}, "good.example"), "93.184.216.34");
  EXPECT_EQ(admit({}, "8.8.8.8"), "8.8.8.8");
  EXPECT_EQ(admit({}, "2606:2800:220:1::1"), "2606:2800:220:1::1");
  EXPECT_EQ(admit({"10.0.0.0/8"}, "inner.example"), "10.1.2.3");
  EXPECT_EQ(admit({"10.0.0.0/8"}, "10.9.9.9"), "10.9.9.9");
  EXPECT_EQ(admit({"127.0.0.0/8"}, "localhost"), "127.0.0.1");
  EXPECT_EQ(admit({"::1"}, "::1"), "::1");
  EXPECT_EQ(admit({"good.example"}, "GOOD.example."), "93.184.216.34");
  EXPECT_EQ(admit({"other.example"}, "good.example"), "ADDRESS_NOT_ALLOWED");
  // A name does not open the inner net; a range beside it does.
  EXPECT_EQ(admit({"*.tpu.example"}, "a.tpu.example"), "ADDRESS_NOT_ALLOWED");
  EXPECT_EQ(admit({"*.tpu.example", "10.9.0.0/16"}, "a.tpu.example"), "10.9.9.9");
  // No range opens the metadata servers.
  EXPECT_EQ(admit({"0.0.0.0/0"}, "169.254.169.254"), "ADDRESS_NOT_ALLOWED");
  EXPECT_EQ(admit({"::/0"}, "127.0.0.1"), "ADDRESS_NOT_ALLOWED");
}

TEST(AddressPolicyTest, PatternsAreRead) {
  for (const char* bad : {"", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "::/129", "a b", "*.", "*",
                          "http://x", "a/b", "10.0.0.0/8/8"}) {
    EXPECT_EQ(AddressPolicy::Make({bad}).status().name(), "ADDRESS_PATTERN_MALFORMED") << bad;
  }
  EXPECT_TRUE(AddressRange::Parse("10.0.0.0/9")->Holds(*ParseAddress("10.127.0.1")));
  EXPECT_FALSE(AddressRange::Parse("10.0.0.0/9")->Holds(*ParseAddress("10.128.0.1")));
}

}  // namespace
}  // namespace strobe
