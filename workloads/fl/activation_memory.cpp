// Smaller activations: mixed precision, and gradient checkpointing, which keeps it when it computes
// a block again.

#include <ATen/autocast_mode.h>
#include <torch/version.h>

#include <mutex>
#include <utility>

#include "fl/training.h"
#include "util/error.h"

namespace memduel {
namespace {

constexpr double kGrowth = 2.0;
constexpr double kBackoff = 0.5;
constexpr int kGrowthInterval = 2000;

namespace autocast = at::autocast;

// LibTorch 2.4 has one function for all devices, and calls the older ones deprecated.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
bool casts_on(const at::Device& device) {
  return autocast::is_autocast_enabled(device.type());
}
at::ScalarType cast_type(const at::Device& device) {
  return autocast::get_autocast_dtype(device.type());
}
void set_casts(const at::Device& device, bool enabled, at::ScalarType type) {
  autocast::set_autocast_dtype(device.type(), type);
  autocast::set_autocast_enabled(device.type(), enabled);
}
#else
bool casts_on(const at::Device& device) {
  return device.is_cuda() ? autocast::is_enabled() : autocast::is_cpu_enabled();
}
at::ScalarType cast_type(const at::Device& device) {
  return device.is_cuda() ? autocast::get_autocast_gpu_dtype() : autocast::get_autocast_cpu_dtype();
}
void set_casts(const at::Device& device, bool enabled, at::ScalarType type) {
  if (device.is_cuda()) {
    autocast::set_autocast_gpu_dtype(type);
    autocast::set_enabled(enabled);
  } else {
    autocast::set_autocast_cpu_dtype(type);
    autocast::set_cpu_enabled(enabled);
  }
}
#endif

}  // namespace

void expect_precision(Precision precision, const at::Device& device) {
  if (precision == Precision::fp16 && !device.is_cuda())
    throw Error(ExitCode::cannot_measure,
                "fp16 needs a GPU: on the CPU LibTorch casts to bf16 only",
                "switches.mixed_precision", "bf16 works on both");
}

Precision current_precision(const at::Device& device) {
  if (!casts_on(device)) return Precision::fp32;
  return cast_type(device) == at::kHalf ? Precision::fp16 : Precision::bf16;
}

AutocastScope::AutocastScope(Precision precision, const at::Device& device, CastParameters cast)
    : device_(device),
      was_enabled_(casts_on(device)),
      was_type_(cast_type(device)),
      kept_casts_(autocast::is_autocast_cache_enabled()) {
  expect_precision(precision, device);
  autocast::increment_nesting();
  autocast::set_autocast_cache_enabled(cast == CastParameters::once);
  set_casts(device, precision != Precision::fp32,
            precision == Precision::fp16 ? at::kHalf : at::kBFloat16);
}

AutocastScope::~AutocastScope() {
  set_casts(device_, was_enabled_, was_type_);
  autocast::set_autocast_cache_enabled(kept_casts_);
  if (autocast::decrement_nesting() == 0) autocast::clear_cache();
}

torch::Tensor LossScaler::scaled(const torch::Tensor& loss) const {
  return acts_ ? loss * scale_ : loss;
}

bool LossScaler::unscale(const std::vector<torch::Tensor>& parameters) {
  if (!acts_) return true;
  const torch::NoGradGuard no_grad;
  bool finite = true;
  for (const torch::Tensor& parameter : parameters) {
    torch::Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    gradient.div_(scale_);
    finite = finite && torch::isfinite(gradient).all().item<bool>();
  }
  steps_in_a_row_ = finite ? steps_in_a_row_ + 1 : 0;
  if (!finite) scale_ *= kBackoff;
  if (steps_in_a_row_ == kGrowthInterval) {
    scale_ *= kGrowth;
    steps_in_a_row_ = 0;
  }
  return finite;
}

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
