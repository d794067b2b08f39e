#include "src/hlo/message.h"

#include <gtest/gtest.h>

#include "src/wire/wire_writer.h"

namespace strobe::hlo {
namespace {

TEST(MessageTest, GivesTheLastOfAFieldAndAllOfARepeatedOne) {
  std::string bytes;
  wire::AppendVarintField(1, 5, &bytes);
  wire::AppendVarintField(1, 7, &bytes);
  wire::AppendBytesField(2, std::string("\x01\x96\x01", 3), &bytes);  // packed 1, 150
  wire::AppendVarintField(2, 3, &bytes);                              // and unpacked 3
  wire::AppendDoubleField(4, 0.5, &bytes);
  const Message message(bytes);
  EXPECT_TRUE(message.ok());
  EXPECT_EQ(message.Int(1), 7);
  EXPECT_EQ(message.Int(9, -4), -4);
  EXPECT_EQ(message.Ints(2), (std::vector<int64_t>{1, 150, 3}));
  EXPECT_EQ(message.Double(4), 0.5);
  EXPECT_FALSE(message.Has(3));
}

TEST(MessageTest, KeepsWhatCameBeforeDamage) {
  std::string bytes;
  wire::AppendVarintField(1, 5, &bytes);
  bytes += "\x12\x7f";  // a field of 127 bytes that is not there
  const Message message(bytes);
  EXPECT_FALSE(message.ok());
  EXPECT_EQ(message.Int(1), 5);
  EXPECT_TRUE(message.Bytes(2).empty());
}

}  // namespace
}  // namespace strobe::hlo
