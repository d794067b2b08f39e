#include "src/capture/upload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "src/base/log.h"
#include "src/capture/publish.h"
#include "src/storage/faulty_store.h"
#include "src/storage/memory_store.h"
#include "src/storage/retrying_store.h"
#include "src/storage/test_directory.h"
#include "src/xplane/bucket_sessions.h"

namespace strobe::capture {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Made by the machine's own tar, so that the format is not only what we think it is.
std::string Tar(const std::string& folder, const std::string& options, const std::string& what) {
  const storage::TestDirectory out;
  const std::string file = out.path() + "/a.tar";
  const std::string command =
      "tar " + options + " -cf '" + file + "' -C '" + folder + "' " + what + " 2>/dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return storage::TestDirectory::Read(file);
}

class UploadTest : public ::testing::Test {
 protected:
  UploadTest() { SetLogLevel("off"); }
  ~UploadTest() override { SetLogLevel("info"); }

  std::unique_ptr<UploadTable> Table(const std::string& place) {
    return std::make_unique<UploadTable>(
        UploadOptions{.place = place, .staging_directory = staging_.path()}, clock_, ids_, places_);
  }
  std::string SendAll(UploadTable& table, const UploadRequest& request, std::string_view bytes) {
    Result<UploadState> state = table.Create(request);
    EXPECT_TRUE(state.ok()) << state.status().ToString();
    if (!state.ok()) return "";
    for (size_t at = 0; at < bytes.size(); at += kMaxPartBytes) {
      state = table.Append(state->id, at, bytes.substr(at, kMaxPartBytes));
      EXPECT_TRUE(state.ok()) << state.status().ToString();
    }
    return state->id;
  }
  Result<UploadedSession> Upload(UploadTable& table, UploadRequest request,
                                 std::string_view bytes) {
    request.size_bytes = bytes.size();
    return table.Finish(SendAll(table, request, bytes), {});
  }
  std::vector<std::string> FilesBelow(const std::string& folder) {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), folder).string());
    }
    return files;
  }

  FakeClock clock_{[] {
    return SystemClock().NowUnixNanos();  // times of real files are compared with it
  }()};
  SeededRandom random_{5};
  IdMaker ids_{clock_, random_};
  storage::TestDirectory directory_;
  storage::TestDirectory staging_;
  std::shared_ptr<storage::PlaceOpener> places_ =
      std::make_shared<storage::PlaceOpener>(storage::SystemCloudContext());
};

TEST_F(UploadTest, OneProfileBecomesASession) {
  const auto table = Table(directory_.path());
  const std::string bytes(3 * kMaxPartBytes / 2, 'p');
  const Result<UploadedSession> session =
      Upload(*table, {.name = "host1.xplane.pb.gz", .run = "llama", .session = "s1"}, bytes);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  EXPECT_EQ(session->session_path, directory_.path() + "/llama/plugins/profile/s1");
  EXPECT_EQ(session->sha256_hex, storage::HexOf(storage::Sha256(bytes)));
  EXPECT_EQ(storage::TestDirectory::Read(session->session_path + "/host1.xplane.pb.gz"), bytes);
  EXPECT_THAT(FilesBelow(directory_.path()),
              ElementsAre("llama/plugins/profile/s1/host1.xplane.pb.gz"));
}

TEST_F(UploadTest, NothingIsSeenBeforeItIsFinished) {
  const auto table = Table(directory_.path());
  const std::string id =
      SendAll(*table, {.name = "h.xplane.pb", .size_bytes = 4}, std::string("abcd"));
  Result<std::vector<xplane::SessionEntry>> sessions = xplane::ListSessions(directory_.path(), {});
  ASSERT_TRUE(sessions.ok());
  EXPECT_THAT(*sessions, IsEmpty());
  ASSERT_TRUE(table->Finish(id, {}).ok());
  sessions = xplane::ListSessions(directory_.path(), {});
  ASSERT_EQ(sessions->size(), 1);
  EXPECT_EQ(sessions->at(0).files.at(0).host, "h");
}

TEST_F(UploadTest, ItGoesOnWhereItStoppedAlsoAfterARestart) {
  const std::string bytes = "the bytes of a profile";
  std::string id;
  {
    const auto table = Table(directory_.path());
    const Result<UploadState> state =
        table->Create({.name = "h.xplane.pb", .size_bytes = bytes.size(), .session = "s"});
    id = state->id;
    ASSERT_TRUE(table->Append(id, 0, bytes.substr(0, 9)).ok());
    const Result<UploadState> wrong = table->Append(id, 5, bytes.substr(5));
    EXPECT_EQ(wrong.status().name(), "UPLOAD_OFFSET");
    EXPECT_EQ(table->Finish(id, {}).status().name(), "UPLOAD_INCOMPLETE");
  }
  const auto table = Table(directory_.path());
  const Result<UploadState> state = table->Get(id);
  ASSERT_TRUE(state.ok()) << state.status().ToString();
  EXPECT_EQ(state->offset_bytes, 9);
  EXPECT_EQ(state->sha256_hex, storage::HexOf(storage::Sha256(bytes.substr(0, 9))));
  ASSERT_TRUE(table->Append(id, 9, bytes.substr(9)).ok());
  const Result<UploadedSession> session = table->Finish(id, {});
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  EXPECT_EQ(session->sha256_hex, storage::HexOf(storage::Sha256(bytes)));
  EXPECT_EQ(table->Get(id).status().name(), "UPLOAD_UNKNOWN");
}

TEST_F(UploadTest, AnotherHashThanAnnouncedIsRefused) {
  const auto table = Table(directory_.path());
  EXPECT_EQ(Upload(*table, {.name = "h.xplane.pb", .sha256_hex = std::string(64, 'a')}, "x")
                .status()
                .name(),
            "UPLOAD_HASH");
}

TEST_F(UploadTest, ASessionAsTarOfEveryKind) {
  storage::TestDirectory source;
  source.Write("run1/h0.xplane.pb", "zero");
  source.Write("run1/h1.xplane.pb", "one");
  source.Write("run1/m(1).hlo_proto.pb", "module");
  source.Write("run1/notes.txt", "left out");
  int number = 0;
  for (const char* const options : {"", "-z", "--zstd", "-J", "--format=pax", "--format=gnu -z"}) {
    const auto table = Table(directory_.path());
    const Result<UploadedSession> session =
        Upload(*table, {.name = "a.tar", .run = "r" + std::to_string(number++)},
               Tar(source.path(), options, "run1"));
    ASSERT_TRUE(session.ok()) << options << ": " << session.status().ToString();
    EXPECT_EQ(session->session_name, "run1");
    EXPECT_EQ(session->hosts, 2);
    EXPECT_EQ(session->left_out, 1);
    EXPECT_THAT(FilesBelow(session->session_path),
                UnorderedElementsAre("h0.xplane.pb", "h1.xplane.pb", "m(1).hlo_proto.pb"));
  }
}

TEST_F(UploadTest, ANameThatIsTakenIsNeverOverwritten) {
  storage::TestDirectory source;
  source.Write("run1/h0.xplane.pb", "zero");
  directory_.Write("plugins/profile/run1/old.xplane.pb", "old");
  const auto table = Table(directory_.path());
  const std::string tar = Tar(source.path(), "", "run1");
  // The folder's name was only a suggestion; one that was asked for is an error.
  const Result<UploadedSession> session = Upload(*table, {.name = "a.tar"}, tar);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  EXPECT_NE(session->session_name, "run1");
  EXPECT_EQ(Upload(*table, {.name = "a.tar", .session = "run1"}, tar).status().name(),
            "SESSION_EXISTS");
  EXPECT_EQ(storage::TestDirectory::Read(directory_.path() + "/plugins/profile/run1/old.xplane.pb"),
            "old");
}

TEST_F(UploadTest, WhatIsNoSessionIsNamedAndLeavesNothing) {
  storage::TestDirectory source;
  source.Write("a/h0.xplane.pb", "zero");
  source.Write("b/h1.xplane.pb", "one");
  source.Write("c/notes.txt", "x");
  EXPECT_EQ(std::system(("ln -s /etc/passwd '" + source.path() + "/a/l.xplane.pb'").c_str()), 0);
  const auto table = Table(directory_.path());
  const auto name_of = [&](const std::string& name, const std::string& bytes) {
    return std::string(Upload(*table, {.name = name}, bytes).status().name());
  };
  EXPECT_EQ(name_of("a.tar", Tar(source.path(), "", "b a/h0.xplane.pb")),
            "UPLOAD_SEVERAL_SESSIONS");
  EXPECT_EQ(name_of("a.tar", Tar(source.path(), "", "c")), "UPLOAD_NO_PROFILE");
  EXPECT_EQ(name_of("a.tar", Tar(source.path(), "", "a")), "ARCHIVE_ENTRY_KIND");
  EXPECT_EQ(name_of("notes.txt", "text"), "UPLOAD_NO_PROFILE");
  EXPECT_FALSE(fs::exists(directory_.path() + "/plugins"));
}

TEST_F(UploadTest, BadRequestsAreRefused) {
  const auto table = Table(directory_.path());
  const auto name_of = [&](const UploadRequest& request) {
    return std::string(table->Create(request).status().name());
  };
  EXPECT_EQ(name_of({.name = "a.xplane.pb", .size_bytes = 0}), "UPLOAD_TOO_LARGE");
  EXPECT_EQ(name_of({.name = "a.xplane.pb", .size_bytes = uint64_t{1} << 50}), "UPLOAD_TOO_LARGE");
  EXPECT_EQ(name_of({.name = "", .size_bytes = 1}), "UPLOAD_MALFORMED");
  EXPECT_EQ(name_of({.name = "a", .size_bytes = 1, .sha256_hex = "xyz"}), "UPLOAD_MALFORMED");
  EXPECT_EQ(name_of({.name = "a", .size_bytes = 1, .run = "../x"}), "CAPTURE_BAD_NAME");
  EXPECT_EQ(name_of({.name = "a", .size_bytes = 1, .session = "a/b"}), "CAPTURE_BAD_NAME");
  EXPECT_EQ(table->Get("../../etc").status().name(), "UPLOAD_UNKNOWN");
  const Result<UploadState> state = table->Create({.name = "a", .size_bytes = 2});
  EXPECT_EQ(table->Append(state->id, 0, "abc").status().name(), "UPLOAD_TOO_LARGE");
  for (size_t i = 1; i < kMaxOpenUploads; ++i) {
    ASSERT_TRUE(table->Create({.name = "a", .size_bytes = 2}).ok());
  }
  EXPECT_EQ(name_of({.name = "a", .size_bytes = 2}), "UPLOADS_TOO_MANY");
}

TEST_F(UploadTest, AbandonedOnesAreTakenAway) {
  const auto table = Table(directory_.path());
  const Result<UploadState> state = table->Create({.name = "a.xplane.pb", .size_bytes = 2});
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(table->RemoveStale(), 0);
  clock_.AdvanceNanos(kUploadIdleNs + 3600LL * 1'000'000'000);
  EXPECT_EQ(table->RemoveStale(), 1);
  EXPECT_EQ(table->Get(state->id).status().name(), "UPLOAD_UNKNOWN");
  EXPECT_THAT(FilesBelow(directory_.path()), IsEmpty());
}

TEST_F(UploadTest, IntoABucket) {
  auto store = std::make_shared<storage::MemoryStore>(clock_, "s3://bkt");
  places_->Use("s3://bkt", store);
  storage::TestDirectory source;
  source.Write("run1/h0.xplane.pb", "zero");
  source.Write("run1/h1.xplane.pb", "one");
  const auto table = Table("s3://bkt/team");
  const Result<UploadedSession> session =
      Upload(*table, {.name = "a.tar", .run = "llama"}, Tar(source.path(), "", "run1"));
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  EXPECT_EQ(session->session_path, "s3://bkt/team/llama/plugins/profile/run1");
  EXPECT_TRUE(store->Stat("team/llama/plugins/profile/run1/h0.xplane.pb", {}).ok());
  EXPECT_EQ(store->Stat("team/llama/plugins/profile/run1/.strobe-writing", {}).status().name(),
            "OBJECT_NOT_FOUND");
  EXPECT_THAT(FilesBelow(staging_.path()), IsEmpty());
  EXPECT_EQ(Upload(*table, {.name = "h.xplane.pb", .run = "llama", .session = "run1"}, "x")
                .status()
                .name(),
            "SESSION_EXISTS");
}

// A store that takes the first writes and then nothing: no part of the session stays visible.
TEST_F(UploadTest, ABucketThatFailsInTheMiddleShowsNothing) {
  struct Failing : storage::MemoryStore {
    using MemoryStore::MemoryStore;
    Result<storage::ObjectInfo> Put(const std::string& key, std::string_view bytes,
                                    const storage::WriteOptions& options,
                                    const storage::CallOptions& call) override {
      if (key.ends_with("h1.xplane.pb")) {
        return UnavailableError("OBJECT_STORE_BUSY", "busy").Where(key);
      }
      return MemoryStore::Put(key, bytes, options, call);
    }
  };
  auto store = std::make_shared<Failing>(clock_, "s3://bkt");
  places_->Use("s3://bkt", store);
  storage::TestDirectory source;
  source.Write("run1/h0.xplane.pb", "zero");
  source.Write("run1/h1.xplane.pb", "one");
  const auto table = Table("s3://bkt");
  EXPECT_EQ(Upload(*table, {.name = "a.tar"}, Tar(source.path(), "", "run1")).status().name(),
            "OBJECT_STORE_BUSY");
  const Result<storage::ListPage> left = store->List({}, {});
  ASSERT_TRUE(left.ok());
  EXPECT_THAT(left->objects, IsEmpty());
}

}  // namespace
}  // namespace strobe::capture
