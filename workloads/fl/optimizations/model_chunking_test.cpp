#include "model_chunking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"

namespace memduel {
namespace {

using ::testing::ElementsAre;

State state_of(const std::vector<std::pair<std::string, std::int64_t>>& floats) {
  State state;
  for (const auto& [name, count] : floats) state.push_back({name, torch::zeros({count})});
  return state;
}

std::vector<std::vector<std::string>> names(const std::vector<State>& chunks) {
  std::vector<std::vector<std::string>> all;
  for (const State& chunk : chunks) {
    all.emplace_back();
    for (const NamedTensor& entry : chunk) all.back().push_back(entry.name);
  }
  return all;
}

// Sorted: a 10, b 20, c 100, d 10, e 30 elements of 4 bytes; chunks of 120 bytes hold 30.
TEST(SplitState, FillsSortedNamesAndLeavesALargeTensorAlone) {
  const State state = state_of({{"c", 100}, {"a", 10}, {"e", 30}, {"b", 20}, {"d", 10}});
  EXPECT_THAT(names(split_state(state, 120)), ElementsAre(ElementsAre("a", "b"), ElementsAre("c"),
                                                          ElementsAre("d"), ElementsAre("e")));
}

TEST(SplitState, KeepsAModelThatFitsWholeAndInItsOrder) {
  const State state = state_of({{"b", 10}, {"a", 20}});
  EXPECT_THAT(names(split_state(state, 120)), ElementsAre(ElementsAre("b", "a")));
  EXPECT_THAT(names(split_state(state, std::nullopt)), ElementsAre(ElementsAre("b", "a")));
}

TEST(SplitState, AliasesTheState) {
  const State state = state_of({{"b", 10}, {"a", 20}});
  const std::vector<State> chunks = split_state(state, 100);
  EXPECT_TRUE(chunks[0][0].tensor.is_alias_of(state[1].tensor));
  EXPECT_EQ(select_entries(state, chunks[1])[0].name, "b");
}

TEST(ChooseChunkBytes, RefusesLessThanOneElement) {
  EXPECT_FALSE(choose_chunk_bytes("off").has_value());
  EXPECT_EQ(choose_chunk_bytes(8), 8U);
  EXPECT_THROW(choose_chunk_bytes(7), Error);
  EXPECT_THROW(choose_chunk_bytes("on"), Error);
}

}  // namespace
}  // namespace memduel
