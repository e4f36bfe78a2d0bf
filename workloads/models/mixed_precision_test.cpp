#include "workloads/models/mixed_precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "workloads/probes/torch_bytes.h"

namespace memduel {
namespace {

TEST(MixedPrecision, ProductsAreInHalfUntilTheScopeEnds) {
  // 1 + 2^-7 is the last step above 1 that bf16 has; 2^-8 is lost.
  const torch::Tensor a = torch::full({1, 1}, 1 + 0x1p-8F);
  const torch::Tensor one = torch::ones({1, 1});
  {
    const AutocastScope scope(Precision::bf16, at::kCPU);
    EXPECT_EQ(current_precision(at::kCPU), Precision::bf16);
    const torch::Tensor product = torch::matmul(a, one);
    EXPECT_EQ(product.scalar_type(), at::kBFloat16);
    EXPECT_EQ(product.item<float>(), 1.0F);
    {
      const AutocastScope inner(Precision::fp32, at::kCPU);
      EXPECT_EQ(torch::matmul(a, one).scalar_type(), at::kFloat);
    }
    EXPECT_EQ(torch::matmul(a, one).scalar_type(), at::kBFloat16);
  }
  EXPECT_EQ(current_precision(at::kCPU), Precision::fp32);
  EXPECT_EQ(torch::matmul(a, one).item<float>(), 1 + 0x1p-8F);
}

// A parameter's cast is kept for the whole scope: half of its bytes.
TEST(MixedPrecision, TheOutermostScopeLetsGoOfCasts) {
  install_torch_probe();
  const torch::Tensor weight = torch::ones({1024, 1024}).requires_grad_();
  const torch::Tensor x = torch::ones({1, 1024});
  const std::int64_t before = torch_bytes().live;
  {
    const AutocastScope outer(Precision::bf16, at::kCPU);
    {
      const AutocastScope inner(Precision::bf16, at::kCPU, CastParameters::each_time);
      static_cast<void>(torch::matmul(x, weight.t()));
    }
    EXPECT_LT(torch_bytes().live - before, 1 << 16);
    static_cast<void>(torch::matmul(x, weight));
    EXPECT_NEAR(static_cast<double>(torch_bytes().live - before), 2 << 20, 1 << 16);
  }
  EXPECT_LT(torch_bytes().live - before, 1 << 16);
}

TEST(MixedPrecision, Fp16IsRefusedOnTheCpu) {
  try {
    const AutocastScope scope(Precision::fp16, at::kCPU);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), ::testing::HasSubstr("optimizations.mixed_precision: fp16"));
  }
  EXPECT_EQ(current_precision(at::kCPU), Precision::fp32);
}

// PyTorch's GradScaler: 65,536; times 0.5 after an overflow, times 2 after 2,000 steps.
TEST(LossScaler, HalvesAfterAnOverflowAndDoublesAfterTwoThousandSteps) {
  LossScaler scaler(Precision::fp16);
  torch::Tensor parameter = torch::ones({2}).requires_grad_();
  scaler.scaled((parameter * 3).sum()).backward();
  EXPECT_EQ(parameter.grad()[0].item<double>(), 3 * 65536.0);
  EXPECT_TRUE(scaler.unscale({parameter}));
  EXPECT_EQ(parameter.grad()[0].item<double>(), 3);
  parameter.mutable_grad() = torch::tensor({1.0F, std::numeric_limits<float>::infinity()});
  EXPECT_FALSE(scaler.unscale({parameter}));
  EXPECT_EQ(scaler.scale(), 32768);
  parameter.mutable_grad() = torch::zeros({2});
  for (int step = 1; step < 2000; ++step) EXPECT_TRUE(scaler.unscale({parameter}));
  EXPECT_EQ(scaler.scale(), 32768);
  EXPECT_TRUE(scaler.unscale({parameter}));
  EXPECT_EQ(scaler.scale(), 65536);
}

TEST(LossScaler, LeavesOtherPrecisionsAlone) {
  LossScaler scaler(Precision::bf16);
  const torch::Tensor loss = torch::ones({1});
  EXPECT_TRUE(scaler.scaled(loss).is_same(loss));
  EXPECT_TRUE(scaler.unscale({loss}));
}

}  // namespace
}  // namespace memduel
