#include "workloads/optimizations/pseudo_gradient.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "workloads/optimizations/test_catalog_files.h"

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

}  // namespace
}  // namespace memduel
