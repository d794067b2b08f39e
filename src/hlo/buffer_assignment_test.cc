#include "src/hlo/buffer_assignment.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <iostream>

#include "src/hlo/corpus_for_test.h"

namespace strobe::hlo {
namespace {

using simdjson::dom::element;

constexpr double kMib = 1 << 20;

double NumberOf(element object, std::string_view key) {
  double value = 0;
  return object[key].get(value) == simdjson::SUCCESS ? value : 0;
}

std::string TextOf(element object, std::string_view key) {
  std::string_view value;
  return object[key].get(value) == simdjson::SUCCESS ? std::string(value) : "";
}

simdjson::dom::array ListOf(element object, std::string_view key) {
  simdjson::dom::array list;
  static simdjson::dom::parser parser;
  if (object[key].get(list) != simdjson::SUCCESS) {
    list = parser.parse(std::string_view("[]")).get_array().value();
  }
  return list;
}

void Near(const std::string& what, int64_t bytes, double mib) {
  EXPECT_NEAR(static_cast<double>(bytes) / kMib, mib, 1e-9 * std::max(1.0, mib)) << what;
}

void CompareCurves(const MemoryUse& use, element golden) {
  for (const auto& [key, ours] : {std::pair{"heapSizes", &use.heap_bytes},
                                  std::pair{"unpaddedHeapSizes", &use.unpadded_bytes}}) {
    const simdjson::dom::array theirs = ListOf(golden, key);
    ASSERT_EQ(theirs.size(), ours->size()) << key;
    size_t i = 0;
    for (const element value : theirs) Near(key, (*ours)[i++], double(value));
  }
  size_t i = 0;
  for (const element name : ListOf(golden, "hloInstructionNames")) {
    EXPECT_EQ(std::string_view(name), use.event_names[i++]);
  }
}

void ComparePeak(const MemoryUse& use, element golden) {
  const simdjson::dom::array heap = ListOf(golden, "maxHeap");
  ASSERT_EQ(heap.size(), use.peak.size());
  size_t i = 0;
  for (const element object : heap) {
    const HeapBuffer& ours = use.peak[i++];
    EXPECT_EQ(TextOf(object, "label"), ours.label);
    EXPECT_EQ(TextOf(object, "instructionName"), ours.name);
    EXPECT_EQ(TextOf(object, "shapeString"), ours.shape);
    EXPECT_EQ(TextOf(object, "groupName"), ours.category);
    EXPECT_EQ(NumberOf(object, "logicalBufferId"), static_cast<double>(ours.id));
    Near("size", ours.size_bytes, NumberOf(object, "logicalBufferSizeMib"));
    Near("unpadded", ours.unpadded_bytes, NumberOf(object, "unpaddedShapeMib"));
  }
  // Equal sizes may stand in any order.
  i = 0;
  for (const element object : ListOf(golden, "maxHeapBySize")) {
    Near("by size", use.peak[use.peak_by_size[i++]].size_bytes,
         NumberOf(object, "logicalBufferSizeMib"));
  }
}

void CompareSums(const MemoryUse& use, element golden) {
  Near("peak", use.peak_bytes, NumberOf(golden, "peakHeapMib"));
  Near("peak unpadded", use.peak_unpadded_bytes, NumberOf(golden, "peakUnpaddedHeapMib"));
  EXPECT_EQ(static_cast<double>(use.peak_position), NumberOf(golden, "peakHeapSizePosition"));
  Near("parameters", use.entry_parameter_bytes, NumberOf(golden, "entryComputationParametersMib"));
  Near("non reusable", use.non_reusable_bytes, NumberOf(golden, "nonReusableMib"));
  Near("live out", use.maybe_live_out_bytes, NumberOf(golden, "maybeLiveOutMib"));
  Near("total", use.total_bytes, NumberOf(golden, "totalBufferAllocationMib"));
  Near("indefinite", use.indefinite_bytes, NumberOf(golden, "indefiniteBufferAllocationMib"));
  Near("scoped", use.scoped_vmem_bytes, NumberOf(golden, "maxScopedVmemAllocationMib"));
  EXPECT_EQ(use.indefinite.size(), ListOf(golden, "indefiniteLifetimes").size());
  simdjson::dom::object spans;
  if (golden["logicalBufferSpans"].get(spans) != simdjson::SUCCESS) {
    EXPECT_TRUE(use.spans.empty());
    return;
  }
  EXPECT_EQ(spans.size(), use.spans.size());
  for (const BufferSpan& span : use.spans) {
    const element theirs = spans[std::to_string(span.id)].value();
    EXPECT_EQ(NumberOf(theirs, "start"), static_cast<double>(span.start));
    EXPECT_EQ(NumberOf(theirs, "limit"), static_cast<double>(span.limit));
  }
}

void CompareBlocks(const HloModule& module, const MemoryUse& use, element golden) {
  std::multiset<std::string> ours;
  std::multiset<std::string> theirs;
  for (const BufferBlock& block : use.blocks) {
    ours.insert(std::to_string(block.id) + " " + std::to_string(block.offset_bytes) + " " +
                std::to_string(block.size_bytes) + " " + std::to_string(block.start) + " " +
                std::to_string(block.end) + " " + std::to_string(block.unpadded_bytes) + " " +
                block.shape + " " + std::string(block.category));
  }
  const auto whole = [](element block, std::string_view key) {
    return std::to_string(static_cast<int64_t>(NumberOf(block, key)));
  };
  for (const element block : ListOf(golden, "bufferBlocks")) {
    theirs.insert(whole(block, "logicalBufferId") + " " + whole(block, "offset") + " " +
                  whole(block, "size") + " " + whole(block, "startStep") + " " +
                  whole(block, "endStep") + " " + whole(block, "unpaddedSize") + " " +
                  TextOf(block, "shapeString") + " " + TextOf(block, "category"));
  }
  EXPECT_EQ(ours, theirs);
}

TEST(BufferAssignmentCorpusTest, NumbersEqualThoseOfTheReference) {
  const std::filesystem::path corpus = CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  CorpusModules modules;
  int compared = 0;
  for (const Golden& golden : GoldensOf("memory_viewer")) {
    if (golden.status != 200 || !golden.Of("view_memory_allocation_timeline").empty()) continue;
    const std::string_view bytes = modules.BytesFor(golden);
    if (bytes.empty()) continue;
    SCOPED_TRACE(golden.session + " " + golden.request);
    simdjson::dom::parser parser;
    const std::string text = UnpackedFile(golden.file);
    element answer;
    ASSERT_EQ(parser.parse(text).get(answer), simdjson::SUCCESS);
    const Result<HloModule> module = HloModule::Read(bytes, {});
    ASSERT_TRUE(module.ok());
    MemoryOptions options;
    options.memory_space = std::atoi(golden.Of("memory_space").c_str());
    const Result<MemoryUse> use = ReplayMemory(*module, options);
    ASSERT_TRUE(use.ok()) << use.status().ToString();
    CompareCurves(*use, answer);
    ComparePeak(*use, answer);
    CompareSums(*use, answer);
    CompareBlocks(*module, *use, answer);
    ++compared;
    if (HasFailure()) break;
  }
  EXPECT_GT(compared, 150);
  std::cout << "compared " << compared << " answers\n";
}

}  // namespace
}  // namespace strobe::hlo
