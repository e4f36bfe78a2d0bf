#include <gtest/gtest.h>

#include "fl/models.h"
#include "util/error.h"

namespace memduel {
namespace {

std::int64_t elements(const std::vector<NamedShape>& table) {
  std::int64_t sum = 0;
  for (const NamedShape& one : table) {
    std::int64_t product = 1;
    for (const std::int64_t size : one.shape) product *= size;
    sum += product;
  }
  return sum;
}

// Meta's model card: 8.03 billion parameters; the checkpoint's index lists 291 tensors.
TEST(Llama, HasThePublishedTensors) {
  EXPECT_EQ(llama_3_1_8b().size(), 291U);
  EXPECT_EQ(elements(llama_3_1_8b()), 8030261248);
}

TEST(ScaleTable, ComesCloseToTheWantedBytesFromBelow) {
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  const std::int64_t bytes = 4 * elements(scale_table(llama_3_1_8b(), kGiB));
  EXPECT_LE(bytes, kGiB);
  EXPECT_GT(bytes, kGiB / 100 * 99);
}

TEST(ScaleTable, KeepsAtLeastOneRowAndScalars) {
  const auto scaled = scale_table({{"a", {1000, 10}}, {"b", {2}}, {"c", {}}}, 4 * 101);
  EXPECT_EQ(scaled[0].shape, (std::vector<std::int64_t>{10, 10}));
  EXPECT_EQ(scaled[1].shape, (std::vector<std::int64_t>{1}));
  EXPECT_TRUE(scaled[2].shape.empty());
}

TEST(ScaleTable, RefusesToGrowATable) {
  EXPECT_THROW(scale_table({{"a", {10}}}, 41), Error);
  EXPECT_EQ(scale_table({{"a", {10}}}, 0)[0].shape[0], 10);
}

TEST(MakeState, SeedDecidesTheValues) {
  const auto first = [](std::uint64_t seed) {
    return make_state({{"a", {3}}}, seed).state[0].tensor[0].item<float>();
  };
  EXPECT_EQ(first(1), first(1));
  EXPECT_NE(first(1), first(2));
}

TEST(ReadTable, KnowsBuffersAndCounters) {
  const Model model =
      make_state(read_table({{"a", {2, 3}},
                             {"n", {{"shape", {3}}, {"dtype", "int64"}, {"buffer", true}}},
                             {"m", {{"shape", {4}}, {"buffer", true}}}}),
                 1);
  ASSERT_EQ(model.state.size(), 3U);
  EXPECT_EQ(model.state[2].tensor.scalar_type(), torch::kLong);
  EXPECT_EQ(model.state[1].tensor.scalar_type(), torch::kFloat);
  EXPECT_EQ(model.parameters, (std::unordered_set<std::string>{"a"}));
  EXPECT_THROW(read_table({{"a", {{"dtype", "int64"}}}}), Error);
}

}  // namespace
}  // namespace memduel
