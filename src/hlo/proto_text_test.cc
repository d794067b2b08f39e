#include "src/hlo/proto_text.h"

#include <gtest/gtest.h>

#include "src/hlo/proto_schema.h"
#include "src/wire/wire_writer.h"

namespace strobe::hlo {
namespace {

using wire::AppendBytesField;
using wire::AppendVarintField;

TEST(ProtoTextTest, FieldsByNumberWithTheirNames) {
  std::string entry;  // of a map, without its value
  AppendBytesField(1, "b", &entry);
  std::string attributes;
  AppendBytesField(1, entry, &attributes);
  std::string module;
  AppendVarintField(5, 7, &module);  // written before the name, shown behind it
  AppendBytesField(1, "jit_f\n", &module);
  AppendBytesField(19, attributes, &module);
  AppendVarintField(999, 3, &module);
  std::string proto;
  AppendBytesField(1, module, &proto);
  const Result<std::string> text = HloProtoText(proto);
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  EXPECT_EQ(*text,
            "hlo_module {\n"
            "  name: \"jit_f\\n\"\n"
            "  id: 7\n"
            "  frontend_attributes {\n"
            "    map {\n"
            "      key: \"b\"\n"
            "      value: \"\"\n"
            "    }\n"
            "  }\n"
            "  999: 3\n"
            "}\n");
}

TEST(ProtoTextTest, DamageAndDepthAreNamed) {
  EXPECT_EQ(HloProtoText("").value(), "");
  EXPECT_EQ(HloProtoText("\x0a\x7f").status().name(), "HLO_DAMAGED");
  // Tuples in tuples.
  std::string shape;
  for (int i = 0; i < kMaxProtoTextDepth + 10; ++i) {
    std::string outer;
    AppendBytesField(4, shape, &outer);
    shape = outer;
  }
  std::string instruction;
  AppendBytesField(3, shape, &instruction);
  std::string computation;
  AppendBytesField(2, instruction, &computation);
  std::string module;
  AppendBytesField(3, computation, &module);
  std::string proto;
  AppendBytesField(1, module, &proto);
  EXPECT_EQ(HloProtoText(proto).status().name(), "HLO_TEXT_TOO_DEEP");
}

TEST(ProtoSchemaTest, EveryFieldHasAPlace) {
  size_t fields = 0;
  for (const auto& [name, message] : HloSchema::Get().messages()) {
    uint32_t last = 0;
    for (const SchemaField& field : message.fields) {
      EXPECT_GT(field.number, last) << name;
      last = field.number;
      EXPECT_EQ(field.message != nullptr, field.type == SchemaType::kMessage) << field.name;
      ++fields;
    }
  }
  EXPECT_EQ(HloSchema::Get().messages().size(), 84u);
  EXPECT_GT(fields, 300u);
}

}  // namespace
}  // namespace strobe::hlo
