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

/// mnist: `data_dir`/mnist/t10k-*.gz or plain, split 8,000 / 2,000 by the seed. cifar10:
/// `data_dir`/cifar10/data_batch_1.bin and test_batch.bin. Throws Error(io) naming what is missing
/// and where it was looked for, Error(usage) for more samples than there are.
TrainAndValidation load_images(const std::string& name, const std::filesystem::path& data_dir,
                               const SplitOptions& options);

}  // namespace memduel
