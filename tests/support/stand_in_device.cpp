#include "support/stand_in_device.h"

#include <ATen/EmptyTensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>
#include <torch/torch.h>

#include <atomic>
#include <cstdlib>

#include "fl/training.h"

namespace memduel {
namespace {

constexpr c10::DeviceType kType = c10::DeviceType::XPU;
constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::XPU);

std::atomic<std::int64_t> device_live{0};
std::atomic<std::int64_t> device_peak{0};

struct Block {
  void* memory;
  std::int64_t size;
};

void release_block(void* context) {
  auto* const block = static_cast<Block*>(context);
  device_live -= block->size;
  std::free(block->memory);
  delete block;
}

class StandInAllocator final : public c10::Allocator {
 public:
  [[nodiscard]] c10::DataPtr allocate(std::size_t size) const override {
    auto* const block = new Block{std::malloc(size + 1), static_cast<std::int64_t>(size)};
    const std::int64_t live = device_live += block->size;
    std::int64_t peak = device_peak;
    while (live > peak && !device_peak.compare_exchange_weak(peak, live)) {
    }
    return {block->memory, block, &release_block, c10::Device(kType, 0)};
  }
};

/// Has one device, and no streams to wait for.
class StandInGuard final : public c10::impl::DeviceGuardImplInterface {
 public:
  [[nodiscard]] c10::DeviceType type() const override { return kType; }
  [[nodiscard]] c10::Device exchangeDevice(c10::Device /*device*/) const override {
    return getDevice();
  }
  [[nodiscard]] c10::Device getDevice() const override { return {kType, 0}; }
  void setDevice(c10::Device /*device*/) const override {}
  void uncheckedSetDevice(c10::Device /*device*/) const noexcept override {}
  [[nodiscard]] c10::Stream getStream(c10::Device device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  [[nodiscard]] c10::Stream exchangeStream(c10::Stream stream) const noexcept override {
    return stream;
  }
  [[nodiscard]] c10::DeviceIndex deviceCount() const noexcept override { return 1; }
};

StandInAllocator allocator;
const c10::impl::DeviceGuardImplRegistrar guard_registrar(kType, new StandInGuard);

at::Tensor empty(at::IntArrayRef size, c10::optional<at::ScalarType> dtype,
                 c10::optional<at::Layout> /*layout*/, c10::optional<at::Device> /*device*/,
                 c10::optional<bool> /*pin_memory*/, c10::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(size, &allocator, kKeys, c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                         c10::optional<at::ScalarType> dtype, c10::optional<at::Layout> /*layout*/,
                         c10::optional<at::Device> /*device*/, c10::optional<bool> /*pin_memory*/) {
  return at::detail::empty_strided_generic(size, stride, &allocator, kKeys,
                                           c10::dtype_or_default(dtype));
}

/// The same memory, as the CPU's kernels may use it.
at::Tensor seen_by_cpu(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return tensor.detach();
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(),
                       at::TensorOptions().dtype(tensor.scalar_type()));
}

at::Tensor& copy(at::Tensor& to, const at::Tensor& from, bool /*non_blocking*/) {
  const torch::NoGradGuard no_grad;
  seen_by_cpu(to).copy_(seen_by_cpu(from));
  return to;
}

/// How the CPU fallback hands back what an operation changed in place.
at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  at::Tensor target = to;
  return copy(target, from, false);
}

at::Tensor convolve(const at::Tensor& input, const at::Tensor& weight,
                    const c10::optional<at::Tensor>& bias, at::IntArrayRef stride,
                    at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                    at::IntArrayRef output_padding, std::int64_t groups) {
  return at::convolution(input.cpu(), weight.cpu(),
                         bias && bias->defined() ? bias->cpu() : at::Tensor(), stride, padding,
                         dilation, transposed, output_padding, groups)
      .to(input.device());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolve_backward(
    const at::Tensor& gradient, const at::Tensor& input, const at::Tensor& weight,
    at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
    at::IntArrayRef output_padding, std::int64_t groups, std::array<bool, 3> wanted) {
  const auto [of_input, of_weight, of_bias] = at::convolution_backward(
      gradient.cpu(), input.cpu(), weight.cpu(), at::IntArrayRef(gradient.size(1)), stride, padding,
      dilation, transposed, output_padding, groups, wanted);
  const auto back = [&](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.to(input.device()) : tensor;
  };
  return {back(of_input), back(of_weight), back(of_bias)};
}

}  // namespace

void install_stand_in_device() {
  count_other_devices_with({[] { return stand_in_bytes().live; },
                            [] { return stand_in_bytes().peak; }, reset_stand_in_peak});
  static auto* const kernels = [] {
    auto* const all =
        new torch::Library(torch::Library::IMPL, "aten", c10::DispatchKey::XPU, __FILE__, __LINE__);
    all->impl("empty.memory_format", empty);
    all->impl("empty_strided", empty_strided);
    all->impl("copy_", copy);
    all->impl("_copy_from_and_resize", copy_from_and_resize);
    all->impl("as_strided", at::native::as_strided_tensorimpl);
    all->impl("view", at::native::view);
    all->impl("_reshape_alias", at::native::_reshape_alias);
    all->impl("convolution_overrideable", convolve);
    all->impl("convolution_backward_overrideable", convolve_backward);
    auto* const others =
        new torch::Library(torch::Library::IMPL, "_", c10::DispatchKey::XPU, __FILE__, __LINE__);
    others->fallback(torch::CppFunction::makeFromBoxedFunction<&at::native::cpu_fallback>());
    return all;
  }();
  static_cast<void>(kernels);
}

StandInBytes stand_in_bytes() {
  return {device_live, device_peak};
}

void reset_stand_in_peak() {
  device_peak = device_live.load();
}

}  // namespace memduel
