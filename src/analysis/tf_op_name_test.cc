#include "src/analysis/tf_op_name.h"

#include <gtest/gtest.h>

namespace strobe::analysis {
namespace {

struct Case {
  std::string_view full;
  FrameworkCategory category;
  std::string_view name;
  std::string_view type;
};

TEST(FrameworkOpTest, NamesTellFrameworkAndType) {
  using enum FrameworkCategory;
  for (const Case& c : {
           Case{"model/dense/MatMul:MatMul", kTensorFlow, "model/dense/MatMul", "MatMul"},
           Case{"model/Conv2D_3:", kTensorFlow, "model/Conv2D_3", "Conv2D"},
           Case{"XlaModule:", kTensorFlow, "XlaModule", "XlaModule"},
           Case{"jit(f)/jit(main)/dot_general:", kJax, "jit(f)/jit(main)/dot_general",
                "dot_general"},
           Case{"jit(f)/conv:conv[window=3]", kJax, "jit(f)/conv", "conv"},
           Case{"jit(f)/x:Conv2D", kUnknown, "jit(f)/x:Conv2D", ""},
           Case{"Iterator::Batch::Map", kTfData, "Iterator::Batch::Map", "Dataset"},
           Case{"MemcpyHtoD", kMemcpyHToD, "MemcpyHtoD", "MemcpyHToD"},
           Case{"memcpyd2h", kUnknown, "memcpyd2h", ""},
           Case{"dummy", kUnknown, "dummy", ""},
           Case{"", kUnknown, "", ""},
           Case{":", kTensorFlow, "", ""},
       }) {
    const FrameworkOp op = ParseFrameworkOp(c.full);
    EXPECT_EQ(op.category, c.category) << c.full;
    EXPECT_EQ(op.name, c.name) << c.full;
    EXPECT_EQ(op.type, c.type) << c.full;
  }
}

TEST(FrameworkOpTest, ScopesAreAllPartsButTheLast) {
  EXPECT_EQ(NameScopes("a/b/c"), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_TRUE(NameScopes("a").empty());
  EXPECT_TRUE(IsInfeedEnqueue("InfeedEnqueueTuple"));
  EXPECT_FALSE(IsInfeedEnqueue("Infeed"));
}

}  // namespace
}  // namespace strobe::analysis
