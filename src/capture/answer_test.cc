#include "src/capture/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler_service.pb.h"
#include "src/base/ids.h"
#include "src/capture/testing/fake_profiler_server.h"
#include "src/wire/wire_writer.h"

namespace strobe::capture {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MakeXSpace;

std::string ResponseWith(const std::string& xspace) {
  tensorflow::ProfileResponse response;
  response.set_xspace(xspace);
  return response.SerializeAsString();
}

// Cuts `bytes` into pieces of 1 to `max_piece` bytes, and empty ones between.
std::vector<std::string_view> Pieces(std::string_view bytes, size_t max_piece, Random& random) {
  std::vector<std::string_view> pieces;
  while (!bytes.empty()) {
    const size_t size = std::min<size_t>(bytes.size(), 1 + random.Next() % max_piece);
    pieces.push_back(bytes.substr(0, size));
    if (random.Next() % 4 == 0) pieces.push_back({});
    bytes.remove_prefix(size);
  }
  return pieces;
}

std::string Joined(const ByteChain& chain, const std::vector<ByteSpan>& spans) {
  std::string joined;
  for (const ByteSpan& span : spans) {
    const Status status = chain.ForEachPiece(span, [&](std::string_view piece) {
      joined += piece;
      return OkStatus();
    });
    EXPECT_TRUE(status.ok());
  }
  return joined;
}

TEST(AnswerTest, SameHoweverItIsCut) {
  const std::string xspace = MakeXSpace(
      {.hostname = "node7", .process_id = 1234, .padding_bytes = 300, .error = "ring\nwas full"});
  const std::string bytes = ResponseWith(xspace);
  SeededRandom random(3);
  for (int round = 0; round < 200; ++round) {
    const ByteChain chain(Pieces(bytes, 1 + static_cast<size_t>(round) % 50, random));
    ASSERT_EQ(chain.size_bytes(), bytes.size());
    const Result<Answer> answer = ReadAnswer(chain);
    ASSERT_TRUE(answer.ok()) << answer.status().ToString();
    EXPECT_TRUE(answer->has_events);
    EXPECT_FALSE(answer->empty_trace);
    EXPECT_EQ(answer->plane_count, 2u);
    EXPECT_THAT(answer->hostnames, ElementsAre("node7"));
    EXPECT_THAT(answer->process_ids, ElementsAre(1234));
    EXPECT_THAT(answer->notes, ElementsAre("ring was full"));
    EXPECT_EQ(answer->xspace_bytes, xspace.size());
    EXPECT_EQ(Joined(chain, answer->xspace), xspace);
  }
}

TEST(AnswerTest, SeveralPartsAreOneMessage) {
  const std::string first = MakeXSpace({.hostname = "a", .process_id = 1, .events = 0});
  const std::string second = MakeXSpace({.hostname = "b", .process_id = 2, .events = 1});
  const std::string bytes = ResponseWith(first) + ResponseWith(second);
  const ByteChain chain({bytes});
  const Result<Answer> answer = ReadAnswer(chain);
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->has_events);
  EXPECT_THAT(answer->process_ids, ElementsAre(1, 2));
  EXPECT_THAT(answer->hostnames, ElementsAre("a", "b"));
  EXPECT_EQ(Joined(chain, answer->xspace), first + second);
}

TEST(AnswerTest, Empty) {
  const Result<Answer> nothing = ReadAnswer(ByteChain({}));
  ASSERT_TRUE(nothing.ok());
  EXPECT_FALSE(nothing->has_events);
  EXPECT_EQ(nothing->xspace_bytes, 0u);

  tensorflow::ProfileResponse response;
  response.set_empty_trace(true);
  response.set_xspace(MakeXSpace({.events = 0}));
  response.add_tool_data()->set_name("x");
  const std::string bytes = response.SerializeAsString();
  const Result<Answer> answer = ReadAnswer(ByteChain({bytes}));
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->empty_trace);
  EXPECT_FALSE(answer->has_events);
  EXPECT_EQ(answer->tool_data_count, 1u);
}

TEST(AnswerTest, DamageIsNamedWithItsPlace) {
  const std::string good = ResponseWith(MakeXSpace({}));
  for (const std::string& bytes :
       {std::string("garbage, not a message"), ResponseWith("garbage, not an XSpace"),
        std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
        good.substr(0, good.size() - 1), ResponseWith("\x0a\x7f"),
        std::string("\x42\xff\xff\xff\xff\xff\xff\xff\xff\x7f")}) {
    const Result<Answer> answer = ReadAnswer(ByteChain({bytes}));
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.status().name(), "CAPTURE_BAD_ANSWER");
    EXPECT_THAT(std::string(answer.status().where()), HasSubstr("byte "));
  }
}

// Every cut and every flipped byte ends in an answer or a named error, never beyond the bytes.
TEST(AnswerTest, AnyDamageIsSurvived) {
  const std::string good = ResponseWith(MakeXSpace({.padding_bytes = 40, .error = "e"}));
  int errors = 0;
  for (size_t cut = 0; cut < good.size(); ++cut) {
    const std::string part = good.substr(0, cut);  // a string of its own: overreads are seen
    errors += ReadAnswer(ByteChain({part})).ok() ? 0 : 1;
  }
  EXPECT_GT(errors, static_cast<int>(good.size() / 2));
  for (size_t at = 0; at < good.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string changed = good;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      const ByteChain chain({changed});
      const Result<Answer> answer = ReadAnswer(chain);
      if (answer.ok()) {
        EXPECT_EQ(Joined(chain, answer->xspace).size(), answer->xspace_bytes);
      }
    }
  }
}

TEST(AnswerTest, ListsAreBounded) {
  std::string space;
  for (int i = 0; i < 1000; ++i) {
    wire::AppendBytesField(2, std::string(5000, 'e'), &space);
    wire::AppendBytesField(4, std::string(5000, 'h'), &space);
  }
  const std::string bytes = ResponseWith(space);
  const Result<Answer> answer = ReadAnswer(ByteChain({bytes}));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->hostnames.size(), kMaxAnswerHostnames);
  EXPECT_EQ(answer->notes.size(), kMaxAnswerNotes);
  EXPECT_LT(answer->hostnames[0].size(), 300u);
  EXPECT_LT(answer->notes[0].size(), 500u);
}

}  // namespace
}  // namespace strobe::capture
