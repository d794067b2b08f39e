// The command line as a user meets it: help, exit codes, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "src/cli/command.h"
#include "src/storage/test_directory.h"

namespace strobe::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string error;
};

Outcome RunCommand(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "strobe");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.exit_code = RunStrobe(static_cast<int>(argv.size()), argv.data());
  outcome.out = ::testing::internal::GetCapturedStdout();
  outcome.error = ::testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(ParseTest, HelpOfEveryCommandHasExamples) {
  for (const std::string command : {"serve", "ls", "inspect", "events", "capture"}) {
    const Outcome help = RunCommand({"help", command});
    EXPECT_EQ(help.exit_code, kExitOk) << help.error;
    EXPECT_THAT(help.out, HasSubstr("Usage: strobe " + command));
    EXPECT_THAT(help.out, HasSubstr("Examples:\n  strobe " + command));
    EXPECT_THAT(help.error, IsEmpty());
    EXPECT_EQ(RunCommand({command, "--help"}).out, help.out);
  }
}

TEST(ParseTest, HelpAlone) {
  const Outcome help = RunCommand({"help"});
  EXPECT_EQ(help.exit_code, kExitOk);
  EXPECT_THAT(help.out, HasSubstr("Exit codes:"));
  EXPECT_EQ(RunCommand({"--help"}).out, help.out);
}

TEST(ParseTest, OutputThatCannotBeWrittenIsAFailure) {
  FILE* full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  std::fflush(stdout);
  const int kept = dup(STDOUT_FILENO);
  dup2(fileno(full), STDOUT_FILENO);
  ::testing::internal::CaptureStderr();
  std::string name = "strobe", version = "version";
  char* argv[] = {name.data(), version.data()};
  const int exit_code = RunStrobe(2, argv);
  const std::string error = ::testing::internal::GetCapturedStderr();
  dup2(kept, STDOUT_FILENO);
  close(kept);
  std::fclose(full);
  std::clearerr(stdout);
  EXPECT_EQ(exit_code, kExitFailed);
  EXPECT_THAT(error, HasSubstr("error: OUTPUT_NOT_WRITTEN: "));
}

TEST(ParseTest, WrongUsageIsNamedOnStandardError) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"nonsense"},
                                                    {"help", "nonsense"},
                                                    {"ls"},
                                                    {"ls", "/no/such", "--no"},
                                                    {"events", "/no/such", "--limit", "-1"},
                                                    {"events", "/no/such", "--json", "--csv"}}) {
    const Outcome outcome = RunCommand(arguments);
    EXPECT_EQ(outcome.exit_code, kExitUsage) << outcome.error;
    EXPECT_THAT(outcome.error, HasSubstr("error: USAGE: "));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

TEST(ParseTest, ContentThatIsNoProfileIsNotWrongUsage) {
  storage::TestDirectory directory;
  for (const char* name : {"a.xplane.pb", "a.xplane.pb.gz", "a.trace.json", "a.trace.json.gz"}) {
    const std::string file = directory.Write(name, "{\"this is\": \"no profile\"}");
    for (const std::string command : {"inspect", "events"}) {
      const Outcome outcome = RunCommand({command, file});
      EXPECT_EQ(outcome.exit_code, kExitPartial) << command << " " << name;
      EXPECT_THAT(outcome.error, StartsWith("error: ")) << command << " " << name;
    }
  }
  EXPECT_EQ(RunCommand({"inspect", directory.path() + "/no_such"}).exit_code, kExitNotFound);
}

}  // namespace
}  // namespace strobe::cli
