#include "workloads/optimizations/weighted_total.h"

#include "workloads/federated/finite.h"

namespace memduel {

void WeightedTotal::add(State state, double weight, const at::Device& device,
                        const std::string& client) {
  const torch::NoGradGuard no_grad;
  const bool first = total_.empty();
  for (std::size_t i = 0; i < state.size(); ++i) {
    const NamedTensor entry = std::exchange(state[i], {});
    expect_finite({entry}, client);
    const at::Tensor value = entry.tensor.to(device);
    if (first)
      total_.push_back({entry.name, value * weight});
    else
      total_[i].tensor.add_(value, weight);
  }
  weights_ += weight;
}

State WeightedTotal::take_mean(const State& like) {
  State mean = std::exchange(total_, {});
  for (std::size_t i = 0; i < mean.size(); ++i)
    mean[i].tensor =
        mean[i].tensor.div_(divisor_for(mean[i].tensor, weights_)).to(like[i].tensor.scalar_type());
  weights_ = 0;
  return mean;
}

void WeightedTotal::clear() {
  total_.clear();
  weights_ = 0;
}

}  // namespace memduel
