// Samples in their order, over and over.
#pragma once

#include <cstdint>
#include <vector>

namespace memduel {

class SampleCycle {
 public:
  explicit SampleCycle(std::int64_t samples) : samples_(static_cast<std::size_t>(samples)) {}

  /// The next so many.
  std::vector<std::size_t> next(std::int64_t count) {
    std::vector<std::size_t> indices(static_cast<std::size_t>(count));
    for (std::size_t& index : indices) {
      index = position_;
      position_ = (position_ + 1) % samples_;
    }
    return indices;
  }

 private:
  std::size_t samples_;
  std::size_t position_ = 0;
};

}  // namespace memduel
