#include "workloads/datasets/load.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "workloads/datasets/cifar10.h"
#include "workloads/datasets/idx.h"
#include "workloads/datasets/partition.h"

namespace memduel {
namespace {

constexpr const char* kAdvice =
    "the repository's datasets/ holds MNIST's test set; scripts/fetch-datasets.sh gets the rest; "
    "--data-dir or MEMDUEL_DATA_DIR names the directory";

/// The first of `names` that exists in `directory`.
std::filesystem::path find(const std::filesystem::path& directory,
                           std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (std::filesystem::exists(directory / name)) return directory / name;
  throw Error(ExitCode::io, fmt::format("data set file {} is missing", *names.begin()),
              directory.string(), kAdvice);
}

Indices first(Indices indices, std::optional<std::size_t> wanted, const char* part) {
  if (!wanted) return indices;
  if (*wanted > indices.size())
    throw Error(ExitCode::usage,
                fmt::format("found {} {} samples wanted, expected at most {}", *wanted, part,
                            indices.size()),
                "workload.dataset");
  indices.resize(*wanted);
  return indices;
}

TrainAndValidation load_mnist(const std::filesystem::path& directory, const SplitOptions& options) {
  const auto images = find(directory, {"t10k-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte"});
  const auto labels = find(directory, {"t10k-labels-idx1-ubyte.gz", "t10k-labels-idx1-ubyte"});
  const ImageSet all = read_idx(images, labels);
  // 8,000 of the published 10,000; a shortened file keeps the ratio.
  const Split split = split_train_validation(all.count(), all.count() * 8 / 10, options.seed);
  return {select(all, first(split.train, options.train_samples, "training")),
          select(all, first(split.validation, options.validation_samples, "validation"))};
}

/// `wanted` random samples of `all`.
ImageSet sample(const ImageSet& all, std::optional<std::size_t> wanted, std::uint64_t seed,
                const char* part) {
  const Indices order = split_train_validation(all.count(), all.count(), seed).train;
  return select(all, first(order, wanted, part));
}

TrainAndValidation load_cifar10(const std::filesystem::path& directory,
                                const SplitOptions& options) {
  return {sample(read_cifar10(find(directory, {"data_batch_1.bin"})), options.train_samples,
                 options.seed, "training"),
          sample(read_cifar10(find(directory, {"test_batch.bin"})), options.validation_samples,
                 options.seed, "validation")};
}

}  // namespace

TrainAndValidation load_images(const std::string& name, const std::filesystem::path& data_dir,
                               const SplitOptions& options) {
  if (name == "mnist") return load_mnist(data_dir / "mnist", options);
  if (name == "cifar10") return load_cifar10(data_dir / "cifar10", options);
  throw Error(ExitCode::usage, fmt::format("unknown data set \"{}\"", name),
              "workload.dataset.name", "known are mnist and cifar10");
}

}  // namespace memduel
