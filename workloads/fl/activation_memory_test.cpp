#include "workloads/models/gradient_checkpoint.h"

#include <gtest/gtest.h>

#include "workloads/models/mixed_precision.h"
#include "workloads/probes/torch_bytes.h"

namespace memduel {
namespace {

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
