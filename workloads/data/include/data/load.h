// Labelled images as bytes, whatever file they came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace memduel {

/// Of CIFAR-10, of MNIST and of its successors.
inline constexpr std::uint8_t kClasses = 10;

inline constexpr const char* kFetchAgain = "fetch the file again with scripts/fetch-datasets.sh";

/// `count()` images of channels × height × width bytes each, planes in that order, one after the
/// other, and one label each.
struct ImageSet {
  std::size_t channels = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;

  [[nodiscard]] std::size_t count() const { return labels.size(); }
  [[nodiscard]] std::size_t image_bytes() const { return channels * height * width; }
};

/// The images at `indices`, in that order. Every index must be below `images.count()`.
ImageSet select(const ImageSet& images, std::span<const std::size_t> indices);

}  // namespace memduel
