// The state of a model: its tensors as bytes, on a device and in main memory, and as the final
// model on disk.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "fl/models.h"
#include "optimizations/receiving.h"
#include "optimizations/sending.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

struct DtypePair {
  Dtype wire;
  at::ScalarType torch;
};

constexpr DtypePair kDtypes[] = {{Dtype::float32, at::kFloat},
                                 {Dtype::float64, at::kDouble},
                                 {Dtype::int32, at::kInt},
                                 {Dtype::int64, at::kLong}};

Dtype wire_dtype(const NamedTensor& entry) {
  for (const auto& [wire, torch] : kDtypes)
    if (torch == entry.tensor.scalar_type()) return wire;
  throw Error(ExitCode::usage,
              fmt::format("tensor {} has element type {}, which states do not carry", entry.name,
                          c10::toString(entry.tensor.scalar_type())));
}

}  // namespace

at::ScalarType torch_dtype(Dtype dtype) {
  return kDtypes[static_cast<std::size_t>(dtype)].torch;
}

StateTable table_of(const State& state) {
  std::vector<TensorRecord> records;
  records.reserve(state.size());
  for (const NamedTensor& entry : state) {
    TensorRecord record;
    record.name = entry.name;
    record.dtype = wire_dtype(entry);
    record.shape = entry.tensor.sizes().vec();
    records.push_back(std::move(record));
  }
  return layout_table(std::move(records));
}

State allocate_state(const StateTable& table, const at::Device& device) {
  State state;
  state.reserve(table.tensors.size());
  for (const TensorRecord& record : table.tensors)
    state.push_back(
        {record.name,
         torch::empty(record.shape,
                      torch::TensorOptions().dtype(torch_dtype(record.dtype)).device(device))});
  return state;
}

std::size_t state_bytes(const State& state) {
  std::size_t bytes = 0;
  for (const NamedTensor& entry : state) bytes += entry.tensor.nbytes();
  return bytes;
}

std::string_view bytes_of(const at::Tensor& tensor) {
  return {mutable_bytes_of(tensor), tensor.nbytes()};
}

char* mutable_bytes_of(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.is_contiguous() && tensor.is_cpu(), "a state holds contiguous CPU tensors");
  return static_cast<char*>(tensor.data_ptr());
}

at::Tensor on_cpu(const at::Tensor& tensor) {
  return tensor.is_cpu() ? tensor : tensor.detach().to(at::kCPU).contiguous();
}

at::Tensor divisor_for(const at::Tensor& divided, double number) {
  const auto dtype = divided.is_floating_point() ? divided.scalar_type() : at::kLong;
  return torch::full({}, number, at::TensorOptions(divided.device()).dtype(dtype));
}

const at::Tensor& find_tensor(const State& state, const std::string& name) {
  const auto found = std::ranges::find(state, name, &NamedTensor::name);
  if (found == state.end())
    throw Error(ExitCode::cannot_measure, fmt::format("the state has no tensor {}", name));
  return found->tensor;
}

void copy_state(const State& from, const State& into) {
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < into.size(); ++i) {
    const auto& [name, target] = into[i];
    // States of one model have one order; the search is for chunks and foreign orders.
    const auto same_place = i < from.size() && from[i].name == name;
    const auto source =
        same_place
            ? from.begin() + static_cast<std::ptrdiff_t>(i)
            : std::ranges::find_if(from, [&](const auto& entry) { return entry.name == name; });
    if (source != from.end() && !source->tensor.is_alias_of(target))
      target.detach().copy_(source->tensor);
  }
}

/// Straight from the tensors: a second copy of the state would be the trial's peak.
void write_model_file(const std::filesystem::path& path, const State& state) {
  const std::filesystem::path temporary = path.string() + ".part";
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  for (const Segment& segment : borrow_state(state))
    file.write(segment.bytes.data(), static_cast<std::streamsize>(segment.bytes.size()));
  file.close();
  std::error_code failed;
  if (file) std::filesystem::rename(temporary, path, failed);
  if (file && !failed) return;
  std::filesystem::remove(temporary, failed);
  throw Error(ExitCode::io, "cannot write the model", path.string());
}

State read_model_file(const std::filesystem::path& path) {
  const auto bytes = std::make_shared<Bytes>(Bytes::copy_of(read_file(path)));
  return make_deserializer("in_place_views")->load(bytes, path.string());
}

StateDifference compare_states(const State& a, const State& b) {
  expect_same_tensors(table_of(b), table_of(a), "the second model");
  StateDifference difference{true, 0.0};
  for (const auto& [name, tensor] : a) {
    const at::Tensor& other = find_tensor(b, name);
    if (bytes_of(tensor) == bytes_of(other) || tensor.numel() == 0) continue;
    difference.bit_identical = false;
    const auto largest =
        (tensor.to(torch::kDouble) - other.to(torch::kDouble)).abs().max().item<double>();
    if (std::isnan(largest))
      difference.max_abs_diff.reset();
    else if (difference.max_abs_diff)
      difference.max_abs_diff = std::max(*difference.max_abs_diff, largest);
  }
  return difference;
}

}  // namespace memduel
