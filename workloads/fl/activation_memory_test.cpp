#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "fl/probes.h"
#include "fl/training.h"
#include "util/error.h"

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
    EXPECT_THAT(error.message(), ::testing::HasSubstr("switches.mixed_precision: fp16"));
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

namespace nn = torch::nn;

enum class Kept { all, inputs };

/// Four residual blocks with dropout in the middle of each.
struct Tower {
  Tower() {
    torch::manual_seed(5);
    for (int i = 0; i < 4; ++i)
      blocks.emplace_back(nn::Linear(24, 48), nn::GELU(), nn::Dropout(0.3), nn::Linear(48, 24));
  }

  torch::Tensor forward(torch::Tensor x, Kept kept) {
    for (nn::Sequential& layers : blocks) {
      const Block block = [&layers](const torch::Tensor& in) { return in + layers->forward(in); };
      x = kept == Kept::inputs ? checkpointed(block, x, layers->parameters()) : block(x);
    }
    return x;
  }

  std::vector<nn::Sequential> blocks;
};

/// The input's gradient, every parameter's, and a number drawn afterwards.
std::vector<torch::Tensor> gradients(Kept kept, bool input_is_trained, Precision precision) {
  Tower tower;
  torch::manual_seed(9);
  const torch::Tensor input = torch::randn({32, 24}).requires_grad_(input_is_trained);
  torch::Tensor loss;
  {
    const AutocastScope scope(precision, at::kCPU);
    loss = tower.forward(input, kept).to(torch::kFloat).square().sum();
  }
  loss.backward();
  std::vector<torch::Tensor> all;
  if (input_is_trained) all.push_back(input.grad());
  for (nn::Sequential& layers : tower.blocks)
    for (const torch::Tensor& parameter : layers->parameters()) all.push_back(parameter.grad());
  all.push_back(torch::rand({1}));
  return all;
}

void expect_equal_bits(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_TRUE(a[i].defined() && b[i].defined()) << i;
    EXPECT_TRUE(torch::equal(a[i], b[i])) << i;
  }
}

TEST(GradientCheckpoint, GradientsHaveTheSameBitsWithDropout) {
  const auto plain = gradients(Kept::all, true, Precision::fp32);
  expect_equal_bits(plain, gradients(Kept::inputs, true, Precision::fp32));
  EXPECT_GT(plain.front().abs().sum().item<double>(), 0);
}

// The first block of a model reads data.
TEST(GradientCheckpoint, ParametersHaveGradientsWhereTheInputHasNone) {
  expect_equal_bits(gradients(Kept::all, false, Precision::fp32),
                    gradients(Kept::inputs, false, Precision::fp32));
}

TEST(GradientCheckpoint, TheSecondRunIsInThePrecisionOfTheFirst) {
  const auto halved = gradients(Kept::inputs, true, Precision::bf16);
  expect_equal_bits(gradients(Kept::all, true, Precision::bf16), halved);
  EXPECT_FALSE(torch::equal(halved.front(), gradients(Kept::all, true, Precision::fp32).front()));
}

TEST(GradientCheckpoint, WithoutGradientsItIsAPlainCall) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor ones = torch::ones({2});
  const torch::Tensor same = checkpointed([](const torch::Tensor& x) { return x; }, ones, {});
  EXPECT_TRUE(same.is_same(ones));
}

// A sigmoid keeps its result. Sixteen blocks of four: 64 results without checkpoints; with them the
// 16 inputs of blocks, and of one block the results of three sigmoids more.
TEST(GradientCheckpoint, OneBlockHasActivationsAtATime) {
  install_torch_probe();
  constexpr std::int64_t kElements = 1 << 18;
  constexpr double kTensor = 4.0 * kElements;
  const Block block = [](const torch::Tensor& x) {
    return x.sigmoid().sigmoid().sigmoid().sigmoid();
  };
  const auto peak = [&](Kept kept) {
    const torch::Tensor input = torch::zeros({kElements}).requires_grad_();
    const std::int64_t before = torch_bytes().live;
    reset_torch_peak();
    torch::Tensor x = input;
    for (int i = 0; i < 16; ++i) x = kept == Kept::inputs ? checkpointed(block, x, {}) : block(x);
    x.sum().backward();
    return static_cast<double>(torch_bytes().peak - before) / kTensor;
  };
  EXPECT_NEAR(peak(Kept::all), 64 + 2, 1);
  EXPECT_NEAR(peak(Kept::inputs), 16 + 4 + 2, 1.5);
}

}  // namespace
}  // namespace memduel
