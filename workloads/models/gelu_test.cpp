#include "workloads/models/gelu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

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

}  // namespace
}  // namespace memduel
