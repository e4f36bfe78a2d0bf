// The data sets by name, found below a data directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "workloads/datasets/image_set.h"

namespace memduel {

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
