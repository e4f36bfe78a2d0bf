#include "workloads/models/mixed_precision.h"

#include <ATen/autocast_mode.h>
#include <torch/version.h>

#include "base/error.h"

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
                "optimizations.mixed_precision", "bf16 works on both");
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

}  // namespace memduel
