#include "src/xplane/session.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "src/storage/test_directory.h"
#include "src/wire/compress.h"
#include "src/xplane/host_source.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::xplane {
namespace {

using storage::TestDirectory;

std::string SmallSpace(std::string_view event = "step") {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  LineBuilder& line = plane.AddLine(7, "python", 0);
  const int64_t id = plane.AddEventMetadata(event);
  for (int64_t i = 0; i < 100; ++i) line.AddEvent(id, i * 1000, 500);
  return space.Serialize();
}

std::vector<SessionEntry> List(const std::string& path, const ListOptions& options = {}) {
  auto listed = ListSessions(path, options);
  EXPECT_TRUE(listed.ok()) << listed.status().ToString();
  return listed.ok() ? *std::move(listed) : std::vector<SessionEntry>();
}

std::set<std::string> Runs(const std::vector<SessionEntry>& sessions) {
  std::set<std::string> runs;
  for (const SessionEntry& session : sessions) runs.insert(session.xprof_run());
  return runs;
}

std::vector<std::string> Hosts(const SessionEntry& session) {
  std::vector<std::string> hosts;
  for (const SessionFile& file : session.files) hosts.push_back(file.host);
  return hosts;
}

TEST(SessionTest, FindsTheLayoutAtAnyDepth) {
  const TestDirectory directory;
  directory.Write("plugins/profile/top/a.xplane.pb", "x");
  directory.Write("run1/plugins/profile/s1/a.xplane.pb", "x");
  directory.Write("deep/er/run2/plugins/profile/s1/a.xplane.pb", "x");
  directory.Write("deep/er/run2/plugins/profile/s2/a.xplane.pb", "x");
  directory.Write("deep/other/profile/none/a.xplane.pb", "x");
  const auto sessions = List(directory.path());
  EXPECT_EQ(Runs(sessions),
            (std::set<std::string>{"top", "run1/s1", "deep/er/run2/s1", "deep/er/run2/s2"}));
  for (const SessionEntry& session : sessions) {
    EXPECT_EQ(session.root, directory.path());
    EXPECT_EQ(session.path.substr(session.path.rfind('/') + 1), session.name);
    EXPECT_EQ(session.id.size(), 13u);
  }
}

TEST(SessionTest, HostNamesKeepDotsAndUnderscores) {
  const TestDirectory directory;
  const std::string base = "plugins/profile/s/";
  directory.Write(base + "34.83.195.179_6003.xplane.pb", "x");
  directory.Write(base + "node0.example.com.xplane.pb.gz", "x");
  directory.Write(base + "tpu-vm_1.xplane.pb.zst", "x");
  directory.Write(base + "tpu-vm_2.xplane.pb.xz", "x");
  directory.Write(base + "ring.host.xplane.riegeli", "x");
  directory.Write(base + "only.json.trace.json.gz", "x");
  directory.Write(base + "jit_f(1).hlo_proto.pb", "x");
  directory.Write(base + "perfetto_trace.json.gz", "x");
  directory.Write(base + "ALL_HOSTS.op_stats_v2.pb", "x");
  directory.Write(base + ".xplane.pb", "x");
  directory.Write(base + ".strobe-tmp-abc.xplane.pb", "x");
  const auto sessions = List(directory.path());
  ASSERT_EQ(sessions.size(), 1u);
  EXPECT_EQ(Hosts(sessions[0]),
            (std::vector<std::string>{"34.83.195.179_6003", "node0.example.com", "only.json",
                                      "ring.host", "tpu-vm_1", "tpu-vm_2"}));
  EXPECT_EQ(FileFormatName(sessions[0].files[1].format), "xplane.pb.gz");
  EXPECT_EQ(FileFormatName(sessions[0].files[2].format), "trace.json.gz");
  EXPECT_EQ(FileFormatName(sessions[0].files[3].format), "xplane.riegeli");
  EXPECT_EQ(FileFormatName(sessions[0].files[4].format), "xplane.pb.zst");
  EXPECT_EQ(FileFormatName(sessions[0].files[5].format), "xplane.pb.xz");
  EXPECT_EQ(sessions[0].size_bytes, 6u);
}

TEST(SessionTest, TraceJsonOnlyWhereTheHostHasNothingElse) {
  const TestDirectory directory;
  directory.Write("plugins/profile/s/a.xplane.pb", "x");
  directory.Write("plugins/profile/s/a.trace.json.gz", "x");
  directory.Write("plugins/profile/s/b.trace.json.gz", "x");
  directory.Write("plugins/profile/s/remote.trace.json.gz", "x");
  directory.Write("plugins/profile/t/remote.trace.json.gz", "x");
  for (const SessionEntry& session : List(directory.path())) {
    if (session.name == "s") {
      EXPECT_EQ(Hosts(session), (std::vector<std::string>{"a", "b"}));
      EXPECT_EQ(session.files[0].format, FileFormat::kXplane);
    } else {
      EXPECT_EQ(Hosts(session), (std::vector<std::string>{"remote"}));
    }
  }
}

TEST(SessionTest, EmptyFileBesideAGoodOne) {
  const TestDirectory directory;
  directory.Write("plugins/profile/s/bad.xplane.pb", "");
  directory.Write("plugins/profile/s/good.xplane.pb", SmallSpace());
  // Of one host, the one with bytes wins.
  directory.Write("plugins/profile/s/two.xplane.pb", "");
  directory.Write("plugins/profile/s/two.xplane.pb.gz", wire::GzipCompress(SmallSpace()));
  const auto sessions = List(directory.path());
  ASSERT_EQ(sessions.size(), 1u);
  ASSERT_EQ(Hosts(sessions[0]), (std::vector<std::string>{"bad", "good", "two"}));
  EXPECT_EQ(sessions[0].files[2].format, FileFormat::kXplaneGzip);
  const auto bad = OpenHostFile(sessions[0].files[0], directory.path(), CancelToken());
  EXPECT_EQ(bad.status().name(), "XPLANE_EMPTY");
  EXPECT_NE(bad.status().where().find("bad.xplane.pb"), std::string_view::npos);
  EXPECT_TRUE(OpenHostFile(sessions[0].files[1], directory.path(), CancelToken()).ok());
  EXPECT_TRUE(OpenHostFile(sessions[0].files[2], directory.path(), CancelToken()).ok());
}

TEST(SessionTest, SessionWithoutProfileIsListed) {
  const TestDirectory directory;
  std::filesystem::create_directories(directory.path() + "/run/plugins/profile/empty");
  const auto sessions = List(directory.path());
  ASSERT_EQ(sessions.size(), 1u);
  EXPECT_EQ(sessions[0].xprof_run(), "run/empty");
  EXPECT_TRUE(sessions[0].files.empty());
  EXPECT_GT(sessions[0].modified_unix_ns, 0);
}

TEST(SessionTest, SymlinksAreFollowedOnceAndLoopsEnd) {
  const TestDirectory directory;
  directory.Write("run/plugins/profile/s/a.xplane.pb", "x");
  std::filesystem::create_directory_symlink(directory.path(), directory.path() + "/run/loop");
  std::filesystem::create_directory_symlink("s", directory.path() + "/run/plugins/profile/latest");
  std::filesystem::create_directory_symlink("self", directory.path() + "/self");
  std::filesystem::create_directory_symlink("nowhere", directory.path() + "/dangling");
  const TestDirectory elsewhere;
  elsewhere.Write("plugins/profile/far/a.xplane.pb", "x");
  std::filesystem::create_directory_symlink(elsewhere.path(), directory.path() + "/aaa");
  EXPECT_EQ(Runs(List(directory.path())), (std::set<std::string>{"run/s", "aaa/far"}));
  // The root itself may be a link.
  const TestDirectory links;
  std::filesystem::create_directory_symlink(elsewhere.path(), links.path() + "/root");
  EXPECT_EQ(Runs(List(links.path() + "/root")), (std::set<std::string>{"far"}));
}

TEST(SessionTest, TheSessionItselfAndWhatLiesAbove) {
  const TestDirectory directory;
  directory.Write("run/plugins/profile/s/a.xplane.pb", "x");
  for (const std::string below :
       {"/run/plugins/profile/s", "/run/plugins/profile/s/", "/run/plugins/profile", "/run/plugins",
        "/run", "/./run/../run"}) {
    const auto sessions = List(directory.path() + below);
    ASSERT_EQ(sessions.size(), 1u) << below;
    EXPECT_EQ(sessions[0].xprof_run(), "s") << below;
    EXPECT_EQ(sessions[0].path, directory.path() + "/run/plugins/profile/s");
    EXPECT_EQ(sessions[0].id, List(directory.path())[0].id) << below;
  }
}

TEST(SessionTest, DirectoryWithProfilesIsASession) {
  const TestDirectory directory;
  directory.Write("mine/a.xplane.pb", "x");
  directory.Write("mine/b.xplane.pb", "x");
  directory.Write("mine/plugins/profile/s/c.xplane.pb", "x");
  EXPECT_EQ(Runs(List(directory.path() + "/mine")), (std::set<std::string>{"mine", "s"}));
  EXPECT_EQ(Runs(List(directory.path())), (std::set<std::string>{"mine/s"}));
}

TEST(SessionTest, OneFileAlone) {
  const TestDirectory directory;
  const std::string path = directory.Write("node.1.xplane.pb", SmallSpace());
  const auto sessions = List(path);
  ASSERT_EQ(sessions.size(), 1u);
  EXPECT_EQ(sessions[0].path, path);
  EXPECT_EQ(sessions[0].name, "node.1.xplane.pb");
  ASSERT_EQ(sessions[0].files.size(), 1u);
  EXPECT_EQ(sessions[0].files[0].host, "node.1");
}

TEST(SessionTest, FileWithAnyNameIsKnownByItsBytes) {
  const TestDirectory directory;
  const auto format_of = [&](const std::string& name, const std::string& bytes) {
    const auto sessions = List(directory.Write(name, bytes));
    return sessions.empty() ? "none" : std::string(FileFormatName(sessions[0].files[0].format));
  };
  EXPECT_EQ(format_of("download", SmallSpace()), "xplane.pb");
  EXPECT_EQ(format_of("download.gz", wire::GzipCompress(SmallSpace())), "xplane.pb.gz");
  EXPECT_EQ(format_of("t.json.gz", wire::GzipCompress("{\"traceEvents\":[]}")), "trace.json.gz");
  EXPECT_EQ(format_of("t.json", "{\"traceEvents\":[]}"), "trace.json");
  EXPECT_EQ(format_of("list", " [ {\"ph\":\"X\"}]"), "trace.json");
  EXPECT_EQ(format_of("empty", ""), "xplane.pb");
}

TEST(SessionTest, MissingAndUnreadableRootsAreNamed) {
  const TestDirectory directory;
  const auto missing = ListSessions(directory.path() + "/none", {});
  EXPECT_EQ(missing.status().name(), "LOG_DIRECTORY_NOT_FOUND");
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ListSessions("", {}).status().name(), "LOG_DIRECTORY_NOT_FOUND");
  std::filesystem::create_directory(directory.path() + "/closed");
  directory.Write("open/plugins/profile/s/a.xplane.pb", "x");
  ASSERT_EQ(chmod((directory.path() + "/closed").c_str(), 0), 0);
  ASSERT_EQ(chmod(directory.path().c_str(), 0755), 0);
  const uid_t user = geteuid();
  if (user == 0) ASSERT_EQ(seteuid(65534), 0);
  const auto closed = ListSessions(directory.path() + "/closed", {});
  const auto around = ListSessions(directory.path(), {});
  if (user == 0) ASSERT_EQ(seteuid(0), 0);
  EXPECT_EQ(closed.status().name(), "LOG_DIRECTORY_NOT_READABLE");
  ASSERT_TRUE(around.ok());
  EXPECT_EQ(Runs(*around), (std::set<std::string>{"open/s"}));
}

TEST(SessionTest, NewestFirst) {
  const TestDirectory directory;
  for (const char* name : {"b", "c", "a"}) {
    directory.Write("plugins/profile/" + std::string(name) + "/h.xplane.pb", "x");
  }
  const auto touch = [&](const std::string& name, time_t seconds) {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    const std::string path = directory.path() + "/plugins/profile/" + name + "/h.xplane.pb";
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  };
  touch("a", 2000);
  touch("b", 3000);
  touch("c", 2000);
  std::string order;
  for (const SessionEntry& session : List(directory.path())) order += session.name;
  EXPECT_EQ(order, "bac");
}

TEST(SessionTest, LimitsCutTheWalk) {
  const TestDirectory directory;
  for (int i = 0; i < 20; ++i) {
    directory.Write("plugins/profile/s" + std::to_string(i) + "/h.xplane.pb", "x");
  }
  EXPECT_EQ(List(directory.path(), {.max_sessions = 5}).size(), 5u);
  EXPECT_LT(List(directory.path(), {.max_directories = 10}).size(), 10u);
  EXPECT_EQ(List(directory.path(), {.max_depth = 1}).size(), 0u);
}

// How long it takes is for session_bench.cc to say.
TEST(SessionTest, FiveThousandSessions) {
  const TestDirectory directory;
  for (int i = 0; i < 5000; ++i) {
    const std::string session = directory.path() + "/run" + std::to_string(i % 50) +
                                "/plugins/profile/session_" + std::to_string(i);
    std::filesystem::create_directories(session);
    FILE* const file = fopen((session + "/host.xplane.pb").c_str(), "w");
    ASSERT_NE(file, nullptr);
    fclose(file);
  }
  EXPECT_EQ(List(directory.path()).size(), 5000u);
}

TEST(HostSourceTest, EveryCompressionGivesTheSameProfile) {
  const TestDirectory directory;
  SessionFile file;
  file.host = "h";
  file.path = directory.Write("h.xplane.pb.gz", wire::GzipCompress(SmallSpace()));
  file.format = FileFormat::kXplaneGzip;
  const auto host = OpenHostSource(file, directory.path() + "/scratch", CancelToken());
  ASSERT_TRUE(host.ok()) << host.status().ToString();
  EXPECT_EQ(host->source->bytes(), SmallSpace());
  EXPECT_TRUE(host->damage.empty());
  EXPECT_EQ(host->identity, *storage::IdentifyFile(file.path));
  EXPECT_EQ(host->source->identity().path, file.path);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path() + "/scratch"));
}

TEST(HostSourceTest, CutGzipGivesWhatWasThereAndSaysSo) {
  const TestDirectory directory;
  std::string space = SmallSpace();
  for (int i = 0; i < 2000; ++i) space += SmallSpace("step" + std::to_string(i));
  const std::string bytes = wire::GzipCompress(space);
  SessionFile file;
  file.format = FileFormat::kXplaneGzip;
  file.path = directory.Write("h.xplane.pb.gz", bytes.substr(0, bytes.size() / 2));
  const auto profile = OpenHostFile(file, directory.path(), CancelToken());
  ASSERT_TRUE(profile.ok()) << profile.status().ToString();
  EXPECT_GT((*profile)->planes().size(), 100u);
  bool told = false;
  for (const Damage& damage : (*profile)->damage()) {
    told |= damage.status.name() == "COMPRESS_TRUNCATED";
  }
  EXPECT_TRUE(told);
}

TEST(HostSourceTest, ErrorsNameTheFile) {
  const TestDirectory directory;
  SessionFile file;
  for (const FileFormat format :
       {FileFormat::kXplane, FileFormat::kXplaneGzip, FileFormat::kXplaneZstd,
        FileFormat::kXplaneXz, FileFormat::kRiegeli, FileFormat::kTraceJsonGzip,
        FileFormat::kTraceJson}) {
    file.format = format;
    for (const std::string& bytes : {std::string(), std::string("no profile at all\n")}) {
      file.path = directory.Write("bad", bytes);
      const auto profile = OpenHostFile(file, directory.path(), CancelToken());
      ASSERT_FALSE(profile.ok()) << FileFormatName(format);
      EXPECT_NE(profile.status().where().find(file.path), std::string_view::npos)
          << profile.status().ToString();
      EXPECT_FALSE(profile.status().hint().empty()) << profile.status().ToString();
    }
    file.path = directory.path() + "/missing";
    EXPECT_EQ(OpenHostFile(file, directory.path(), CancelToken()).status().name(),
              "FILE_NOT_FOUND");
  }
}

}  // namespace
}  // namespace strobe::xplane
