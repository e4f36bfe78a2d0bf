#include "workloads/federated/weights.h"

#include <numeric>

#include "base/error.h"

namespace memduel {

std::vector<double> shares_of(const std::string& weights,
                              const std::vector<std::int64_t>& sample_sizes) {
  if (weights == "equal")
    return std::vector<double>(sample_sizes.size(), 1.0 / static_cast<double>(sample_sizes.size()));
  const double total = std::accumulate(sample_sizes.begin(), sample_sizes.end(), 0.0);
  if (!(total > 0))
    throw Error(ExitCode::cannot_measure, "all clients together have no samples to weigh by",
                "workload.weights");
  std::vector<double> shares;
  for (const std::int64_t size : sample_sizes) shares.push_back(static_cast<double>(size) / total);
  return shares;
}

}  // namespace memduel
