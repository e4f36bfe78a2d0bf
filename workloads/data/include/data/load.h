// Labelled images as bytes, whatever file they came from, and the data sets by name, found below a
// data directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
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

struct TrainAndValidation {
  ImageSet train;
  ImageSet validation;
};

struct SplitOptions {
  std::optional<std::size_t> train_samples;       ///< absent: all of the training part
  std::optional<std::size_t> validation_samples;  ///< absent: all of the validation part
  std::uint64_t seed = 42;
};

/// mnist: `data_dir`/mnist/train-* and t10k-*, plain or .gz; without the training set t10k-* is
/// split 8,000 / 2,000 by the seed. cifar10: `data_dir`/cifar10/data_batch_1.bin to 5 and
/// test_batch.bin; where one of the others is missing, the first alone. Throws Error(io) naming
/// what is missing and where it was looked for, Error(usage) for more samples than there are.
TrainAndValidation load_images(const std::string& name, const std::filesystem::path& data_dir,
                               const SplitOptions& options);

}  // namespace memduel
