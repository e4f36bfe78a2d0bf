// Training in half precision: casts under a scope, and the scaling that fp16 needs.
#pragma once

#include <torch/torch.h>

#include <vector>

namespace memduel {

/// What matrix products and convolutions are computed in; parameters and their gradients stay fp32.
enum class Precision { fp32, bf16, fp16 };

/// Throws Error(cannot_measure) for fp16 on the CPU, whose kernels lack it.
void expect_precision(Precision precision, const at::Device& device);

/// What the calling thread computes in on a device.
Precision current_precision(const at::Device& device);

/// Whether a parameter's cast lives until the outermost scope ends, or for the one operation.
enum class CastParameters { once, each_time };

/// LibTorch's autocast on one device, in the calling thread, until it is destroyed. The outermost
/// scope lets go of the casts that are kept.
class AutocastScope {
 public:
  /// Throws as expect_precision() does.
  AutocastScope(Precision precision, const at::Device& device,
                CastParameters cast = CastParameters::once);
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;
  ~AutocastScope();

 private:
  at::Device device_;
  bool was_enabled_;
  at::ScalarType was_type_;
  bool kept_casts_;
};

/// Keeps small gradients of fp16 from becoming 0, with the constants of PyTorch's GradScaler. For
/// other precisions the scale is 1 and every step is taken.
class LossScaler {
 public:
  explicit LossScaler(Precision precision)
      : acts_(precision == Precision::fp16), scale_(acts_ ? 65536.0 : 1.0) {}

  /// To call backward() of.
  [[nodiscard]] torch::Tensor scaled(const torch::Tensor& loss) const;

  /// Divides the gradients by the scale, once before each step. False where one is not finite: then
  /// the step must be left out. The next scale is half of this one then, and twice this one after
  /// 2,000 steps in a row.
  bool unscale(const std::vector<torch::Tensor>& parameters);

  [[nodiscard]] double scale() const { return scale_; }

 private:
  bool acts_;
  double scale_;
  int steps_in_a_row_ = 0;
};

}  // namespace memduel
