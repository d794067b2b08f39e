#include "src/api/static_files.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "src/api/finish.h"
#include "src/base/log.h"
#include "src/storage/test_directory.h"

namespace strobe::api {
namespace {

class StaticFilesTest : public testing::Test {
 protected:
  StaticFilesTest() {
    SetLogLevel("off");
    directory_.Write("index.html", "<html><base href=\"/\" />" + std::string(3000, ' '));
    directory_.Write("assets/app-1a2b.js", std::string(5000, 'x'));
    directory_.Write("icon.svg", "<svg/>");
  }
  ~StaticFilesTest() override { SetLogLevel("info"); }

  Response Serve(StaticFiles& files, std::string_view target) {
    return files.Serve(MakeRequest("GET", target).value());
  }

  storage::TestDirectory directory_;
};

TEST_F(StaticFilesTest, ServesFilesAndThePageForItsOwnAddresses) {
  StaticFiles files(directory_.path());
  const Response script = Serve(files, "/assets/app-1a2b.js");
  EXPECT_EQ(script.content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(script.cache_control, "public, max-age=31536000, immutable");
  ASSERT_NE(script.gzip_body, nullptr);
  ASSERT_NE(script.brotli_body, nullptr);
  EXPECT_LT(script.brotli_body->size(), 1000u);
  for (const char* target : {"/", "/index.html", "/s/abc/overview", "/s/a.b/timeline",
                             "/overview_page?run=x&tag=trace_viewer@", "/overview_page"}) {
    const Response page = Serve(files, target);
    EXPECT_EQ(page.status, 200) << target;
    EXPECT_EQ(page.content_type, "text/html; charset=utf-8") << target;
    EXPECT_EQ(page.cache_control, "no-cache") << target;
  }
  EXPECT_EQ(Serve(files, "/favicon.ico").status, 404);
  EXPECT_EQ(Serve(files, "/assets/old-1.js").status, 404);
}

TEST_F(StaticFilesTest, NeverLeavesItsDirectory) {
  const std::string secret = "secret.txt";
  const std::string inner = directory_.path() + "/inner";
  directory_.Write("inner/index.html", "<html>");
  directory_.Write(secret, "secret");
  StaticFiles files(inner);
  for (const char* target :
       {"/../secret.txt", "/%2e%2e/secret.txt", "/..%2Fsecret.txt", "/assets/../../secret.txt"}) {
    EXPECT_EQ(Serve(files, target).status, 404) << target;
  }
}

TEST_F(StaticFilesTest, PointsThePageAtThePrefixOfXprof) {
  StaticFiles files(directory_.path());
  const Response page = Serve(files, "/data/plugin/profile/");
  EXPECT_NE(page.body->find("<base href=\"/data/plugin/profile/\""), std::string::npos);
  EXPECT_EQ(Serve(files, "/").body->find("/data/plugin/profile/"), std::string::npos);
}

TEST_F(StaticFilesTest, TakesCompressedFormsThatAreThere) {
  directory_.Write("assets/b-1.js.gz", "packed");
  directory_.Write("assets/b-1.js.br", "tighter");
  directory_.Write("assets/b-1.js", std::string(5000, 'y'));
  StaticFiles files(directory_.path());
  const Response script = Serve(files, "/assets/b-1.js");
  EXPECT_EQ(*script.gzip_body, "packed");
  EXPECT_EQ(*script.brotli_body, "tighter");
  EXPECT_EQ(Serve(files, "/assets/b-1.js.gz").status, 404);
  Request request = MakeRequest("GET", "/assets/b-1.js").value();
  request.headers = {{"accept-encoding", "gzip, br"}};
  const WireResponse wire = Finish(request, script, {});
  EXPECT_EQ(wire.body_view(), "tighter");
}

TEST_F(StaticFilesTest, LoadsANewBuild) {
  StaticFiles files(directory_.path());
  EXPECT_EQ(Serve(files, "/new.txt").status, 404);
  directory_.Write("new.txt", "new");
  const std::string index = directory_.Write("index.html", "<html>2");
  std::filesystem::last_write_time(
      index, std::filesystem::last_write_time(index) + std::chrono::seconds(5));
  EXPECT_EQ(Serve(files, "/new.txt").status, 200);
  EXPECT_EQ(*Serve(files, "/").body, "<html>2");
  // A build under way removes the page for a moment.
  std::filesystem::remove(index);
  EXPECT_EQ(*Serve(files, "/").body, "<html>2");
}

TEST_F(StaticFilesTest, SaysHowToBuildWhatIsMissing) {
  StaticFiles files("");
  const Response page = Serve(files, "/");
  EXPECT_EQ(page.status, 200);
  EXPECT_NE(page.body->find("npm"), std::string::npos);
  EXPECT_EQ(Serve(files, "/s/x/overview").status, 404);
}

TEST_F(StaticFilesTest, FindsTheConsole) {
  const storage::TestDirectory other;
  EXPECT_EQ(FindConsoleDirectory(directory_.path(), "", "").value(), directory_.path());
  EXPECT_EQ(FindConsoleDirectory("", directory_.path(), "").value(), directory_.path());
  EXPECT_EQ(FindConsoleDirectory(other.path(), "", "").status().name(), "CONSOLE_NOT_FOUND");
  EXPECT_EQ(FindConsoleDirectory("", "", other.path()).value(), "");
  other.Write("share/strobe/console/index.html", "<html>");
  std::filesystem::create_directory(other.path() + "/bin");
  EXPECT_EQ(FindConsoleDirectory("", "", other.path() + "/bin").value(),
            other.path() + "/bin/../share/strobe/console");
  other.Write("bin/console/index.html", "<html>");
  EXPECT_EQ(FindConsoleDirectory("", "", other.path() + "/bin").value(),
            other.path() + "/bin/console");
}

}  // namespace
}  // namespace strobe::api
