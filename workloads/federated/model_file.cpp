#include "workloads/federated/model_file.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "workloads/optimizations/deserialize.h"
#include "workloads/optimizations/serialize.h"

namespace memduel {

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
