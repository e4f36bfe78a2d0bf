#include "workloads/models/gradient_checkpoint.h"

#include <mutex>
#include <utility>

#include "workloads/models/mixed_precision.h"

namespace memduel {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

torch::Tensor random_state(const at::Device& device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

void set_random_state(const at::Device& device, const torch::Tensor& state) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

/// Another state of the device's random numbers, until it is destroyed.
class RandomStateScope {
 public:
  RandomStateScope(const at::Device& device, const torch::Tensor& state)
      : device_(device), before_(random_state(device)) {
    set_random_state(device, state);
  }
  RandomStateScope(const RandomStateScope&) = delete;
  RandomStateScope& operator=(const RandomStateScope&) = delete;
  ~RandomStateScope() { set_random_state(device_, before_); }

 private:
  at::Device device_;
  torch::Tensor before_;
};

/// What a block needs to run once more as it ran.
struct Rerun : torch::CustomClassHolder {
  Rerun(Block the_block, const at::Device& the_device)
      : block(std::move(the_block)),
        device(the_device),
        random(random_state(the_device)),
        precision(current_precision(the_device)) {}

  /// A cast that is kept has the graph of the run that made it, or none: neither may be another
  /// run's.
  [[nodiscard]] torch::Tensor run(const torch::Tensor& input) const {
    const AutocastScope scope(precision, device, CastParameters::each_time);
    return block(input);
  }

  Block block;
  at::Device device;
  torch::Tensor random;
  Precision precision;
};

constexpr const char* kRerun = "rerun";

class CheckpointFunction : public torch::autograd::Function<CheckpointFunction> {
 public:
  /// Called without a graph.
  static torch::Tensor forward(AutogradContext* context, const Block& block,
                               const torch::Tensor& input, at::TensorList parameters) {
    auto rerun = c10::make_intrusive<Rerun>(block, input.device());
    variable_list kept{input};
    kept.insert(kept.end(), parameters.begin(), parameters.end());
    context->save_for_backward(std::move(kept));
    context->saved_data[kRerun] = c10::IValue::make_capsule(rerun);
    return rerun->run(input);
  }

  /// One gradient for each argument of forward; the block itself has none.
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto rerun =
        c10::static_intrusive_pointer_cast<Rerun>(context->saved_data[kRerun].toCapsule());
    variable_list leaves = context->get_saved_variables();
    const bool input_is_trained = leaves.front().requires_grad();
    leaves.front() = leaves.front().detach().requires_grad_(input_is_trained);
    const torch::AutoGradMode with_graph(true);
    torch::Tensor output;
    {
      const RandomStateScope random(rerun->device, rerun->random);
      output = rerun->run(leaves.front());
    }
    if (!input_is_trained) leaves.erase(leaves.begin());
    variable_list found = torch::autograd::grad({output}, leaves, gradients);
    variable_list results{torch::Tensor()};
    if (!input_is_trained) results.emplace_back();
    results.insert(results.end(), found.begin(), found.end());
    return results;
  }
};

}  // namespace

torch::Tensor checkpointed(const Block& block, const torch::Tensor& input,
                           const std::vector<torch::Tensor>& parameters) {
  if (!torch::GradMode::is_enabled()) return block(input);
  return CheckpointFunction::apply(block, input, at::TensorList(parameters));
}

}  // namespace memduel
