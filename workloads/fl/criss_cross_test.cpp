#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "fl/models.h"
#include "fl/probes.h"

namespace memduel {
namespace {

// x Φ(x), and its derivative Φ(x) + x φ(x), whose gradient comes transposed.
TEST(Gelu, AndItsGradientAreThoseOfTheClosedForm) {
  const torch::Tensor x = torch::linspace(-4, 4, 64).view({4, 16}).requires_grad_();
  const torch::Tensor weights = torch::linspace(1, 2, 64).view({16, 4});
  const torch::Tensor y = exact_gelu(x);
  (y.transpose(0, 1) * weights).sum().backward();
  for (std::int64_t row = 0; row < 4; ++row)
    for (std::int64_t column = 0; column < 16; ++column) {
      const double at = x[row][column].item<double>();
      const double share = 0.5 * (1 + std::erf(at / std::numbers::sqrt2));
      const double density = std::exp(-at * at / 2) / std::sqrt(2 * std::numbers::pi);
      EXPECT_NEAR(y[row][column].item<double>(), at * share, 1e-6);
      EXPECT_NEAR(x.grad()[row][column].item<double>(),
                  weights[column][row].item<double>() * (share + at * density), 1e-5);
    }
}

namespace nn = torch::nn;

// A layer: two attentions of width 100 at 30,300 + 10,100, feed-forward 160,800 + 160,200, two
// norms of 400: 402,600, times 12. Patches: convolutions 1,250 + 2 × 1,900 and norms 3 × 50,
// spectrum 20,400, positions 26,800. The classifier 1,005. The paper rounds to 4.0 M.
TEST(CrissCross, TheLargeOneHas4884605Parameters) {
  EXPECT_EQ(12 * 402600 + 5200 + 20400 + 26800 + 1005, 4884605);
  EXPECT_EQ(parameter_count(make_model("cbramod", 1)), 4884605);
}

// A layer 2 × (1,260 + 420) + 6,560 + 6,440 + 160 = 16,520, times 4; patches 250 + 2 × 80 + 3 × 10,
// 4,080, 5,360; the classifier 205.
TEST(CrissCross, TheSmallOneHas76165Parameters) {
  EXPECT_EQ(4 * 16520 + 440 + 4080 + 5360 + 205, 76165);
  EXPECT_EQ(parameter_count(make_model("cbramod-small", 1)), 76165);
}

TEST(CrissCross, EpochsBecomeOneScorePerStage) {
  const Model model = make_model("cbramod-small", 1);
  model.network->eval();
  const torch::Tensor epochs = torch::randn({2, 3, 4, 200});
  const torch::Tensor scores = model.network->forward(epochs);
  EXPECT_EQ(scores.sizes(), at::IntArrayRef({2, 5}));
  // An epoch's scores are its own.
  EXPECT_TRUE(torch::allclose(model.network->forward(epochs.slice(0, 0, 1)), scores.slice(0, 0, 1),
                              1e-4, 1e-6));
}

void set_to(SelfAttention& attention, const torch::Tensor& in_weight) {
  const torch::NoGradGuard no_grad;
  attention.named_parameters()["in_proj_weight"].copy_(in_weight);
  attention.named_parameters()["out_proj.weight"].copy_(torch::eye(in_weight.size(1)));
}

// One head of width 1 that passes values on: of 0 and x, with scores 0 and x², the first position
// attends to both alike, the second to itself with e^(x²) / (1 + e^(x²)).
TEST(SelfAttention, OfTwoPositionsIsTheOneByHand) {
  SelfAttention attention(1, 1, 0.1);
  attention.eval();
  set_to(attention, torch::ones({3, 1}));
  const double x = 1.5;
  const torch::Tensor out = attention.forward(torch::tensor({0.0F, 1.5F}).view({1, 2, 1}));
  EXPECT_NEAR(out[0][0][0].item<double>(), x / 2, 1e-6);
  EXPECT_NEAR(out[0][1][0].item<double>(), x * std::exp(x * x) / (1 + std::exp(x * x)), 1e-6);
}

TEST(SelfAttention, OfTwoHeadsIsLibTorchs) {
  torch::manual_seed(3);
  SelfAttention ours(20, 2, 0.0);
  nn::MultiheadAttention theirs(20, 2);
  const torch::NoGradGuard no_grad;
  theirs->in_proj_weight.copy_(ours.named_parameters()["in_proj_weight"]);
  theirs->in_proj_bias.copy_(ours.named_parameters()["in_proj_bias"].normal_());
  theirs->out_proj->weight.copy_(ours.named_parameters()["out_proj.weight"]);
  theirs->out_proj->bias.copy_(ours.named_parameters()["out_proj.bias"].normal_());
  const torch::Tensor x = torch::randn({7, 5, 20});
  const torch::Tensor by_time = x.transpose(0, 1);
  const torch::Tensor expected = std::get<0>(theirs->forward(by_time, by_time, by_time));
  EXPECT_TRUE(torch::allclose(ours.forward(x), expected.transpose(0, 1), 1e-4, 1e-6));
}

// The first half of the width hears of other channels at its time, the second of other times of its
// channel, and neither of another channel at another time.
TEST(CrissCrossLayer, APatchHearsOfItsRowAndItsColumnOnly) {
  torch::manual_seed(4);
  CrissCrossLayer layer({1, 2, 8, 0.0});
  layer.eval();
  torch::Tensor x = torch::randn({1, 3, 4, 8}).requires_grad_();
  layer.forward(x)[0][1][2].sum().backward();
  const torch::Tensor heard = x.grad()[0].abs().sum(-1) > 0;
  for (std::int64_t channel = 0; channel < 3; ++channel)
    for (std::int64_t patch = 0; patch < 4; ++patch)
      EXPECT_EQ(heard[channel][patch].item<bool>(), channel == 1 || patch == 2)
          << channel << ' ' << patch;
}

struct Pass {
  std::vector<torch::Tensor> gradients;
  std::int64_t activations = 0;  ///< between forward and backward pass
  std::int64_t peak = 0;
};

Pass pass_through(LayerActivations activations) {
  torch::manual_seed(1);
  const auto network = std::make_shared<CrissCrossTransformer>(CrissCrossShape{12, 4, 40, 0.1});
  network->set_activations(activations);
  const torch::Tensor epochs = torch::randn({16, 4, 10, 200});
  const torch::Tensor labels = torch::arange(16) % 5;
  const std::int64_t before = torch_bytes().live;
  reset_torch_peak();
  torch::Tensor loss = nn::functional::cross_entropy(network->forward(epochs), labels);
  Pass pass;
  pass.activations = torch_bytes().live - before;
  loss.backward();
  pass.peak = torch_bytes().peak - before;
  for (const torch::Tensor& parameter : network->parameters())
    pass.gradients.push_back(parameter.grad());
  return pass;
}

// Twelve layers, as in the large one.
TEST(CrissCross, RecomputedLayersGiveTheSameBitsForLessThanHalfOfTheActivations) {
  install_torch_probe();
  torch::set_num_threads(1);
  const Pass kept = pass_through(LayerActivations::kept);
  const Pass recomputed = pass_through(LayerActivations::recomputed);
  ASSERT_EQ(kept.gradients.size(), recomputed.gradients.size());
  for (std::size_t i = 0; i < kept.gradients.size(); ++i)
    EXPECT_TRUE(torch::equal(kept.gradients[i], recomputed.gradients[i])) << i;
  EXPECT_LT(static_cast<double>(recomputed.activations),
            0.5 * static_cast<double>(kept.activations));
  EXPECT_LT(static_cast<double>(recomputed.peak), 0.6 * static_cast<double>(kept.peak));
}

}  // namespace
}  // namespace memduel
