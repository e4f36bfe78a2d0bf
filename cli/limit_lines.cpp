#include "limit_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "util/bytes.h"

namespace memduel::cli {
namespace {

constexpr double kLeastOfDocker = 6;  ///< MiB; docker run refuses less
constexpr double kByte = 1 / kMiB;    ///< more than what rounding adds to a product

}  // namespace

std::string limit_lines(double bytes, double headroom) {
  // 100 MiB and 10% are 110 MiB, and not 111.
  const double limit = std::ceil(bytes * (1 + headroom) / kMiB - kByte);
  return fmt::format(
      "With {2:g}% headroom, rounded up to MiB:\n"
      "Slurm: #SBATCH --mem={0:.0f}M\n"
      "systemd: MemoryMax={0:.0f}M\n"
      "Docker: docker run --memory {1:.0f}m\n"
      "Kubernetes:\n"
      "  resources:\n"
      "    limits:\n"
      "      memory: {0:.0f}Mi\n",
      limit, std::max(limit, kLeastOfDocker), 100 * headroom);
}

}  // namespace memduel::cli
