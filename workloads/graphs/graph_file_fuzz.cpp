// Both ways of loading must refuse the same bytes, and read the same graphs out of those they take.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "workloads/graphs/graph_file.h"

namespace {

using namespace memduel;

/// Every number in every graph, or nothing when the file is refused.
std::optional<std::vector<double>> numbers_in(const std::string& path, GraphLoading loading) {
  try {
    const auto store = open_graphs(path, loading);
    std::vector<double> numbers;
    for (std::size_t i = 0; i < store->size(); ++i) {
      const GraphView graph = store->graph(i);
      for (const float number : graph.node_features)
        numbers.push_back(number == number ? number : 0);
      for (const float number : graph.edge_features)
        numbers.push_back(number == number ? number : 0);
      for (const std::int64_t node : graph.edge_index) {
        if (node < 0 || node >= static_cast<std::int64_t>(graph.nodes())) __builtin_trap();
        numbers.push_back(static_cast<double>(node));
      }
      numbers.push_back(static_cast<double>(graph.label));
    }
    return numbers;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Descriptor file(::memfd_create("graphs", MFD_CLOEXEC));
  if (!file || ::write(file.get(), data, size) != static_cast<ssize_t>(size)) return 0;
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  if (numbers_in(path, GraphLoading::read_all) != numbers_in(path, GraphLoading::mmap))
    __builtin_trap();
  return 0;
}
