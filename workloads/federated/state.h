// A model state: named tensors in the model's order, parameters and buffers.
#pragma once

#include <torch/torch.h>

#include <string>
#include <string_view>
#include <vector>

#include "workloads/transport/state_codec.h"

namespace memduel {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

using State = std::vector<NamedTensor>;

at::ScalarType torch_dtype(Dtype dtype);

/// Names, dtypes and shapes. Throws Error(usage) for a dtype that the wire does not carry.
StateTable table_of(const State& state);

/// Uninitialised tensors for every entry of a table.
State allocate_state(const StateTable& table, const at::Device& device = at::kCPU);

/// Sum of the tensors' bytes, without table and padding.
std::size_t state_bytes(const State& state);

/// The tensor's elements. It must be contiguous and on the CPU.
std::string_view bytes_of(const at::Tensor& tensor);
char* mutable_bytes_of(const at::Tensor& tensor);

/// The tensor with its elements in main memory: itself on the CPU, a copy from a device.
at::Tensor on_cpu(const at::Tensor& tensor);

/// Lets `read` put a tensor's bytes where it is told: straight into the tensor on the CPU, else
/// into one copy of its size that then goes to the device.
template <class Read>
void fill_tensor(const at::Tensor& tensor, Read read) {
  if (tensor.is_cpu()) {
    read(mutable_bytes_of(tensor));
    return;
  }
  const torch::NoGradGuard no_grad;
  const at::Tensor staged = torch::empty(tensor.sizes(), tensor.scalar_type());
  read(mutable_bytes_of(staged));
  tensor.detach().copy_(staged);
}

/// `number` as a tensor where `divided` is. A GPU's tensor divided by a number in main memory is
/// multiplied by its reciprocal, which may end in other bits than the CPU's division. A tensor of
/// integers takes a whole number.
at::Tensor divisor_for(const at::Tensor& divided, double number);

/// The tensor of that name. Throws Error(cannot_measure) when there is none.
const at::Tensor& find_tensor(const State& state, const std::string& name);

/// Copies `from` into the tensors of the same name; a tensor that already is the same storage is
/// left alone. Names that `into` does not have are ignored, as load_state_dict(strict=False) does.
void copy_state(const State& from, const State& into);

}  // namespace memduel
