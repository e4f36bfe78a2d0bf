// Both ways of loading must refuse the same bytes, and read the same graphs out of those they take.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kdgat/graph_file.h"
#include "util/error.h"
#include "util/file.h"

namespace {

using namespace memduel;

/// Every number in every graph, or nothing when the file is refused.
std::optional<std::vector<double>> numbers_in(const std::string& path, GraphLoading loading) {
  try {
    const auto store = open_graphs(path, loading);
    std::vector<double> numbers;
    for (std::size_t i = 0; i < store->size(); ++i) {
      const GraphView graph = store->graph(i);
      for (const auto& features : {graph.node_features, graph.edge_features})
        for (const float number : features) {
          if (!std::isfinite(number)) __builtin_trap();
          numbers.push_back(number);
        }
      for (std::size_t node = 0; node < graph.nodes(); ++node) {
        const float identifier = graph.node_features[node * kNodeFeatures];
        if (identifier < 0 || identifier >= static_cast<float>(store->identifiers()) ||
            identifier != std::trunc(identifier))
          __builtin_trap();
      }
      for (const std::int64_t node : graph.edge_index) {
        if (node < 0 || node >= static_cast<std::int64_t>(graph.nodes())) __builtin_trap();
        numbers.push_back(static_cast<double>(node));
      }
      if (graph.label != 0 && graph.label != 1) __builtin_trap();
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
