#include "workloads/simulation/simulated_average.h"

namespace memduel {
namespace {

std::vector<double> scales_of(const std::vector<ClientUpdate>& updates) {
  double sum = 0;
  for (const ClientUpdate& one : updates) sum += static_cast<double>(one.samples);
  std::vector<double> scales;
  for (const ClientUpdate& one : updates)
    scales.push_back(sum > 0 ? static_cast<double>(one.samples) / sum
                             : 1 / static_cast<double>(updates.size()));
  return scales;
}

/// acc = acc + value × scale; a clone of it is the result.
at::Tensor add_in_new_tensors(const std::vector<ClientUpdate>& updates,
                              const std::vector<double>& scales, std::size_t entry) {
  at::Tensor sum = updates.front().state[entry].tensor * scales.front();
  for (std::size_t i = 1; i < updates.size(); ++i)
    sum = sum + updates[i].state[entry].tensor * scales[i];
  return sum.clone();
}

at::Tensor add_in_place(const std::vector<ClientUpdate>& updates, const std::vector<double>& scales,
                        std::size_t entry) {
  at::Tensor sum = updates.front().state[entry].tensor * scales.front();
  for (std::size_t i = 1; i < updates.size(); ++i)
    sum.add_(updates[i].state[entry].tensor * scales[i]);
  return sum;
}

}  // namespace

State average_updates(Averaging averaging, const std::vector<ClientUpdate>& updates) {
  const torch::NoGradGuard no_grad;
  const std::vector<double> scales = scales_of(updates);
  const auto add = averaging == Averaging::in_place ? add_in_place : add_in_new_tensors;
  State mean;
  const State& like = updates.front().state;
  for (std::size_t i = 0; i < like.size(); ++i)
    mean.push_back({like[i].name, add(updates, scales, i).to(like[i].tensor.scalar_type())});
  return mean;
}

}  // namespace memduel
