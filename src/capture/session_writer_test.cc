#include "src/capture/session_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "src/storage/test_directory.h"

namespace strobe::capture {
namespace {

using storage::TestDirectory;

class SessionWriterTest : public ::testing::Test {
 protected:
  Result<SessionWriter> Prepare(const std::string& run, const std::string& session) {
    return SessionWriter::Prepare(directory_.path(), run, session, ids_);
  }
  static Result<std::string> Save(SessionWriter& writer, const std::string& host,
                                  std::string_view bytes) {
    const ByteChain chain({bytes.substr(0, bytes.size() / 2), bytes.substr(bytes.size() / 2)});
    return writer.SaveHost(host, chain, {{0, chain.size_bytes()}}, [] {});
  }
  static Target TargetOf(const char* text) { return *ParseTarget(text); }

  TestDirectory directory_;
  FakeClock clock_;
  SeededRandom random_{5};
  IdMaker ids_{clock_, random_};
};

TEST_F(SessionWriterTest, WritesXProfsLayout) {
  Result<SessionWriter> writer = Prepare("team/run1", "s1");
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  const Result<std::string> file = Save(*writer, "node0", "0123456789");
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(*file, "team/run1/plugins/profile/s1/node0.xplane.pb");
  EXPECT_EQ(TestDirectory::Read(directory_.path() + "/" + *file), "0123456789");
  EXPECT_EQ(writer->session_path(), directory_.path() + "/team/run1/plugins/profile/s1");
  int entries = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(writer->session_path())) {
    ++entries;
  }
  EXPECT_EQ(entries, 1);  // no temporary file is left
}

TEST_F(SessionWriterTest, NothingOnDiskBeforeTheFirstFile) {
  Result<SessionWriter> writer = Prepare("", "");
  ASSERT_TRUE(writer.ok());
  EXPECT_FALSE(std::filesystem::exists(writer->session_path()));
  writer->RemoveIfEmpty();
}

TEST_F(SessionWriterTest, ExistingSessionIsNeverTouched) {
  directory_.Write("plugins/profile/s1/node0.xplane.pb", "old");
  EXPECT_EQ(Prepare("", "s1").status().name(), "CAPTURE_SESSION_EXISTS");
  EXPECT_EQ(Prepare("", "s1").status().code(), StatusCode::kAlreadyExists);
}

TEST_F(SessionWriterTest, SessionThatAppearsMeanwhileIsNotTouchedEither) {
  Result<SessionWriter> writer = Prepare("", "s1");
  ASSERT_TRUE(writer.ok());
  directory_.Write("plugins/profile/s1/node0.xplane.pb", "other");
  const Result<std::string> file = Save(*writer, "node0", "mine");
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(TestDirectory::Read(directory_.path() + "/plugins/profile/s1/node0.xplane.pb"),
            "other");
  EXPECT_NE(writer->session_name(), "s1");
  EXPECT_THAT(writer->session_name(), ::testing::StartsWith("s1_"));
  EXPECT_EQ(TestDirectory::Read(directory_.path() + "/" + *file), "mine");
}

TEST_F(SessionWriterTest, TwoWritersInOneMillisecondDiffer) {
  Result<SessionWriter> first = Prepare("", "");
  Result<SessionWriter> second = Prepare("", "");
  EXPECT_NE(first->session_name(), second->session_name());
  // Even with the same random part.
  SeededRandom same(9), again(9);
  const IdMaker one(clock_, same), two(clock_, again);
  Result<SessionWriter> third = SessionWriter::Prepare(directory_.path(), "", "", one);
  Result<SessionWriter> fourth = SessionWriter::Prepare(directory_.path(), "", "", two);
  ASSERT_EQ(third->session_name(), fourth->session_name());
  ASSERT_TRUE(Save(*third, "h", "3").ok());
  const Result<std::string> file = Save(*fourth, "h", "4");
  ASSERT_TRUE(file.ok());
  EXPECT_NE(third->session_path(), fourth->session_path());
  EXPECT_EQ(TestDirectory::Read(third->session_path() + "/h.xplane.pb"), "3");
  EXPECT_EQ(TestDirectory::Read(fourth->session_path() + "/h.xplane.pb"), "4");
}

TEST_F(SessionWriterTest, HostileNames) {
  for (const char* session : {"../../x", "a/b", ".", "..", ".x", "-x", "a b", "a\nb"}) {
    EXPECT_EQ(Prepare("", session).status().name(), "CAPTURE_BAD_NAME") << session;
  }
  for (const char* run : {"../x", "/etc", "a//b", "a/../../b"}) {
    EXPECT_EQ(Prepare(run, "s").status().name(), "CAPTURE_BAD_NAME") << run;
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(SessionWriterTest, Roots) {
  const std::string file = directory_.Write("file", "x");
  EXPECT_EQ(SessionWriter::Prepare(file, "", "", ids_).status().name(), "CAPTURE_ROOT");
  EXPECT_EQ(SessionWriter::Prepare("", "", "", ids_).status().name(), "CAPTURE_ROOT");
  EXPECT_EQ(SessionWriter::Prepare("/proc/no", "", "", ids_).status().name(), "CAPTURE_ROOT");
  EXPECT_TRUE(SessionWriter::Prepare(directory_.path() + "/new/root/", "", "", ids_).ok());
}

TEST_F(SessionWriterTest, HostNames) {
  Result<SessionWriter> writer = Prepare("", "");
  const std::vector<std::string> nameless;
  EXPECT_EQ(writer->ClaimHostName(TargetOf("node0.example.com:1"), {"x"}, false),
            "node0.example.com");
  EXPECT_EQ(writer->ClaimHostName(TargetOf("node1:1"), nameless, true), "node1_1");
  EXPECT_EQ(writer->ClaimHostName(TargetOf("127.0.0.1:7"), {"worker"}, false), "worker");
  EXPECT_EQ(writer->ClaimHostName(TargetOf("localhost:8"), {"Worker"}, false), "Worker_8");
  EXPECT_EQ(writer->ClaimHostName(TargetOf("[::1]:8"), {"worker"}, false), "worker_8_2");
  EXPECT_EQ(writer->ClaimHostName(TargetOf("127.0.0.1:9"), nameless, true), "127.0.0.1_9");
  EXPECT_EQ(writer->ClaimHostName(TargetOf("10.0.0.1:9"), {"x"}, false), "10.0.0.1");
}

TEST_F(SessionWriterTest, NamesOutOfAnswersAreNotTrusted) {
  Result<SessionWriter> writer = Prepare("", "");
  int port = 100;
  for (const std::string& name : {std::string("../../x"), std::string("a/b"), std::string(""),
                                  std::string(4096, 'x'), std::string("a\0b", 3)}) {
    const std::string text = "127.0.0.1:" + std::to_string(++port);
    EXPECT_EQ(writer->ClaimHostName(TargetOf(text.c_str()), {name}, false),
              "127.0.0.1_" + std::to_string(port));
  }
}

TEST_F(SessionWriterTest, EmptyDirectoryGoesAgain) {
  Result<SessionWriter> writer = Prepare("", "s1");
  // A name that the file system refuses: the directory is made, the file is not.
  EXPECT_FALSE(Save(*writer, std::string(300, 'x'), "bytes").ok());
  EXPECT_TRUE(std::filesystem::exists(writer->session_path()));
  writer->RemoveIfEmpty();
  EXPECT_FALSE(std::filesystem::exists(writer->session_path()));
}

TEST_F(SessionWriterTest, NothingSavedLeavesNoDirectory) {
  const std::string root = directory_.path() + "/new/root";
  Result<SessionWriter> writer = SessionWriter::Prepare(root, "team/run", "", ids_);
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/new"));  // killed here: nothing left
  EXPECT_FALSE(Save(*writer, std::string(300, 'x'), "bytes").ok());
  writer->RemoveIfEmpty();
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(SessionWriterTest, DirectoriesOfOthersStay) {
  const std::string kept = directory_.path() + "/team/plugins";
  std::filesystem::create_directories(kept);
  Result<SessionWriter> writer = Prepare("team", "");
  ASSERT_TRUE(writer.ok());
  writer->RemoveIfEmpty();
  EXPECT_TRUE(std::filesystem::is_empty(kept));  // there, and without ours
  writer = Prepare("team", "");
  ASSERT_TRUE(writer.ok());
  directory_.Write("team/plugins/profile/other/h.xplane.pb", "of somebody else");
  writer->RemoveIfEmpty();
  EXPECT_TRUE(std::filesystem::exists(kept + "/profile/other/h.xplane.pb"));
}

TEST_F(SessionWriterTest, ParentTakenAwayMeanwhileIsMadeAgain) {
  Result<SessionWriter> nothing = Prepare("run", "");
  Result<SessionWriter> something = Prepare("run", "");
  ASSERT_TRUE(nothing.ok() && something.ok());
  nothing->RemoveIfEmpty();
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
  const Result<std::string> file = Save(*something, "h", "bytes");
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(TestDirectory::Read(directory_.path() + "/" + *file), "bytes");
}

}  // namespace
}  // namespace strobe::capture
