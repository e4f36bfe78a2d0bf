#include "fl/state_lifetimes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "memduel/memory.h"
#include "support/catalog_files.h"
#include "util/error.h"

namespace memduel {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A batch normalization as its state has it, every value moved by `shift`.
State batch_norm(float shift, std::int64_t batches) {
  return {{"norm.weight", torch::tensor({1.0F, 2.0F}) + shift},
          {"norm.bias", torch::tensor({0.5F, 0.25F}) + shift},
          {"norm.running_mean", torch::tensor({3.0F, 4.0F}) + shift},
          {"norm.running_var", torch::tensor({5.0F, 6.0F}) + shift},
          {"norm.num_batches_tracked", torch::tensor(batches, torch::kLong)}};
}
const std::unordered_set<std::string> kTrained = {"norm.weight", "norm.bias"};

class EveryPseudoGradient : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<PseudoGradient> gradient_ = make_pseudo_gradient(GetParam());
};

// (1, 2) - (1.5, 2.5) = -0.5 for what is trained; statistics and the counter as trained.
TEST_P(EveryPseudoGradient, OfABatchNormalizationKeepsItsStatistics) {
  State previous = batch_norm(0, 7);
  const State trained = batch_norm(0.5F, 9);
  const State difference = gradient_->compute(previous, trained, kTrained);
  ASSERT_EQ(difference.size(), trained.size());
  for (std::size_t i = 0; i < trained.size(); ++i) {
    EXPECT_EQ(difference[i].name, trained[i].name);
    const at::Tensor expected =
        kTrained.contains(trained[i].name) ? torch::full({2}, -0.5F) : trained[i].tensor;
    EXPECT_TRUE(torch::equal(difference[i].tensor, expected)) << trained[i].name;
  }
}

TEST_P(EveryPseudoGradient, OfIntegersIsRefusedByNameAndNothingIsChanged) {
  State previous = batch_norm(0, 7);
  auto parameters = kTrained;
  parameters.insert("norm.num_batches_tracked");
  try {
    static_cast<void>(gradient_->compute(previous, batch_norm(1, 9), parameters));
    FAIL() << "made a difference of integers";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), AllOf(HasSubstr("tensor norm.num_batches_tracked"),
                                       HasSubstr("integers (Long)"), HasSubstr("send weights")));
  }
  for (std::size_t i = 0; i < previous.size(); ++i)
    EXPECT_TRUE(torch::equal(previous[i].tensor, batch_norm(0, 7)[i].tensor)) << previous[i].name;
}

INSTANTIATE_TEST_SUITE_P(All, EveryPseudoGradient, ::testing::ValuesIn(words_of("pseudo_gradient")),
                         [](const auto& one) { return one.param; });

TEST(PseudoGradientInPlace, IsThePreviousStatesOwnTensors) {
  State previous = batch_norm(0, 7);
  const State before = previous;
  const State difference =
      make_pseudo_gradient("in_place")->compute(previous, batch_norm(1, 9), kTrained);
  EXPECT_TRUE(difference[0].tensor.is_alias_of(before[0].tensor));
  EXPECT_TRUE(difference[1].tensor.is_alias_of(before[1].tensor));
}

std::int64_t resident_mebibytes() {
  return memory_info({.pss = false}).rss_bytes.value() >> 20;
}

/// MiB that are given back of 64 MiB which lie free below a block that stays.
std::int64_t given_back_by(Cleanup cleanup) {
  std::vector<std::unique_ptr<char[]>> blocks;
  for (int i = 0; i < 4096; ++i) blocks.push_back(std::make_unique<char[]>(16384));
  blocks.erase(blocks.begin(), blocks.end() - 1);
  const std::int64_t before = resident_mebibytes();
  clean_up(cleanup);
  return before - resident_mebibytes();
}

// Resident memory is counted in batches of 64 pages per CPU.
TEST(CleanupSwitch, HandsFreedMemoryBackUnderTrimAlone) {
  if (allocator_type() != Allocator::glibc) GTEST_SKIP() << "this test is about glibc's malloc";
  EXPECT_LE(given_back_by(Cleanup::none), 2);
  EXPECT_GE(given_back_by(Cleanup::trim), 60);
}

TEST(ChooseArenas, RefusesWhatIsNoNumberFromOne) {
  EXPECT_EQ(choose_arenas("arenas", "default", "default"), std::nullopt);
  EXPECT_EQ(choose_arenas("arenas", "default", 4), 4);
  for (const nlohmann::json& value : {nlohmann::json(0), nlohmann::json("two")}) {
    try {
      static_cast<void>(choose_arenas("arenas", "default", value));
      FAIL() << "accepted " << value;
    } catch (const Error& error) {
      EXPECT_THAT(error.message(), ::testing::HasSubstr("switches.arenas"));
      EXPECT_THAT(error.message(), ::testing::HasSubstr(value.dump()));
    }
  }
}

}  // namespace
}  // namespace memduel
