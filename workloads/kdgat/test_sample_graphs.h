// For tests: graphs of generated traffic with attacks, in a file that goes with the object.
#pragma once

#include <filesystem>
#include <memory>
#include <numeric>
#include <vector>

#include "kdgat/graph_file.h"
#include "util/file.h"

namespace memduel {

class SampleGraphs {
 public:
  explicit SampleGraphs(std::size_t count, std::uint64_t seed = 42) {
    write_generated_graphs(path_, count, seed);
  }

  [[nodiscard]] std::unique_ptr<GraphStore> open(
      GraphLoading loading = GraphLoading::read_all) const {
    return open_graphs(path_, loading);
  }

 private:
  ScratchDirectory scratch_{std::filesystem::temp_directory_path(), "sample_graphs"};
  std::filesystem::path path_ = scratch_.path() / "graphs.bin";
};

/// 0, 1, … count - 1.
inline std::vector<std::size_t> first_graphs(std::size_t count) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

}  // namespace memduel
