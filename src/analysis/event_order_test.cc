#include "src/analysis/event_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "src/base/ids.h"

namespace strobe::analysis {
namespace {

struct Item {
  uint64_t key = 0;
  size_t from = 0;  // its place before
  bool operator==(const Item&) const = default;
};

bool Less(const Item& a, const Item& b) { return a.key < b.key; }

void ExpectSortedLikeAStableSort(std::vector<Item> items, const std::string& what) {
  for (size_t i = 0; i < items.size(); ++i) items[i].from = i;
  std::vector<Item> expected = items;
  std::ranges::stable_sort(expected, Less);
  SortRuns(&items, Less);
  EXPECT_TRUE(items == expected) << what;
}

TEST(SortRunsTest, SortsFewRunsAndManyAndWhatIsNearlySorted) {
  SeededRandom random(3);
  for (int round = 0; round < 200; ++round) {
    const size_t count = random.Next() % 2000;
    std::vector<Item> runs(count);
    std::vector<Item> near(count);
    std::vector<Item> any(count);
    std::vector<Item> backwards(count);
    for (size_t i = 0; i < count; ++i) {
      runs[i].key = i % (1 + count / 5);
      near[i].key = i + random.Next() % 4;
      any[i].key = random.Next() % 300;
      backwards[i].key = count - i;
    }
    ExpectSortedLikeAStableSort(runs, "runs");
    ExpectSortedLikeAStableSort(near, "near");
    ExpectSortedLikeAStableSort(any, "any");
    ExpectSortedLikeAStableSort(backwards, "backwards");
  }
}

TEST(InsertNearTest, GivesUpWhenItTakesTooLongAndLosesNothing) {
  std::vector<Item> items;
  for (size_t i = 0; i < 100; ++i) items.push_back({100 - i, i});
  EXPECT_FALSE(InsertNear(&items, Less, 50));
  std::vector<uint64_t> keys;
  for (const Item& item : items) keys.push_back(item.key);
  std::ranges::sort(keys);
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(keys[i], i + 1);
  EXPECT_TRUE(InsertNear(&items, Less, 10'000));
  EXPECT_TRUE(std::ranges::is_sorted(items, Less));
}

}  // namespace
}  // namespace strobe::analysis
