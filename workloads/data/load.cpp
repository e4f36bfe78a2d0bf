#include "data/load.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cifar10.h"
#include "data/partition.h"
#include "idx.h"
#include "util/error.h"

namespace memduel {

ImageSet select(const ImageSet& images, std::span<const std::size_t> indices) {
  ImageSet chosen{images.channels, images.height, images.width, {}, {}};
  const std::size_t size = images.image_bytes();
  chosen.pixels.reserve(indices.size() * size);
  chosen.labels.reserve(indices.size());
  for (const std::size_t index : indices) {
    const auto first = images.pixels.begin() + static_cast<std::ptrdiff_t>(index * size);
    chosen.pixels.insert(chosen.pixels.end(), first, first + static_cast<std::ptrdiff_t>(size));
    chosen.labels.push_back(images.labels[index]);
  }
  return chosen;
}

namespace {

constexpr const char* kAdvice =
    "the repository's workloads/data/datasets/ holds MNIST's test set; scripts/fetch-datasets.sh "
    "fetches the rest; "
    "set the directory with --data-dir or MEMDUEL_DATA_DIR";

/// The file or its compressed form; absent where there is neither.
std::optional<std::filesystem::path> find(const std::filesystem::path& directory,
                                          const std::string& name) {
  for (const std::string& each : {name + ".gz", name})
    if (std::filesystem::exists(directory / each)) return directory / each;
  return std::nullopt;
}

std::filesystem::path expect(const std::filesystem::path& directory, const std::string& name) {
  if (const auto found = find(directory, name)) return *found;
  throw Error(ExitCode::io, fmt::format("data set file {} is missing", name), directory.string(),
              kAdvice);
}

Indices first(Indices indices, std::optional<std::size_t> wanted, const char* part) {
  if (!wanted) return indices;
  if (*wanted > indices.size())
    throw Error(
        ExitCode::usage,
        fmt::format("expected at most {} {} samples, found {}", indices.size(), part, *wanted),
        "workload.dataset");
  indices.resize(*wanted);
  return indices;
}

/// `wanted` random samples of `all`.
ImageSet sample(const ImageSet& all, std::optional<std::size_t> wanted, std::uint64_t seed,
                const char* part) {
  const Indices order = split_train_validation(all.count(), all.count(), seed).train;
  return select(all, first(order, wanted, part));
}

TrainAndValidation sampled(const ImageSet& train, const ImageSet& validation,
                           const SplitOptions& options) {
  return {sample(train, options.train_samples, options.seed, "training"),
          sample(validation, options.validation_samples, options.seed, "validation")};
}

ImageSet read_mnist(const std::filesystem::path& directory, const std::string& part) {
  const auto images = expect(directory, part + "-images-idx3-ubyte");
  return read_idx(images, expect(directory, part + "-labels-idx1-ubyte"));
}

TrainAndValidation load_mnist(const std::filesystem::path& directory, const SplitOptions& options) {
  const ImageSet test = read_mnist(directory, "t10k");
  if (find(directory, "train-images-idx3-ubyte"))
    return sampled(read_mnist(directory, "train"), test, options);
  // 8,000 of the published 10,000; a shortened file keeps the ratio.
  const Split split = split_train_validation(test.count(), test.count() * 8 / 10, options.seed);
  return {select(test, first(split.train, options.train_samples, "training")),
          select(test, first(split.validation, options.validation_samples, "validation"))};
}

void append(ImageSet& all, const ImageSet& more) {
  all.pixels.insert(all.pixels.end(), more.pixels.begin(), more.pixels.end());
  all.labels.insert(all.labels.end(), more.labels.begin(), more.labels.end());
}

/// All five, or the first alone: with some of them nobody could say what was trained on.
ImageSet read_cifar10_batches(const std::filesystem::path& directory) {
  constexpr int kBatches = 5;
  ImageSet all = read_cifar10(expect(directory, "data_batch_1.bin"));
  std::vector<std::filesystem::path> others;
  for (int number = 2; number <= kBatches; ++number)
    if (const auto file = find(directory, fmt::format("data_batch_{}.bin", number)))
      others.push_back(*file);
  if (others.empty()) return all;
  if (others.size() + 1 < kBatches)
    throw Error(ExitCode::io,
                fmt::format("expected all {} training batches, or only the first, found {}",
                            kBatches, others.size() + 1),
                directory.string(), kAdvice);
  for (const std::filesystem::path& file : others) append(all, read_cifar10(file));
  return all;
}

TrainAndValidation load_cifar10(const std::filesystem::path& directory,
                                const SplitOptions& options) {
  const ImageSet train = read_cifar10_batches(directory);
  return sampled(train, read_cifar10(expect(directory, "test_batch.bin")), options);
}

}  // namespace

TrainAndValidation load_images(const std::string& name, const std::filesystem::path& data_dir,
                               const SplitOptions& options) {
  if (name == "mnist") return load_mnist(data_dir / "mnist", options);
  if (name == "cifar10") return load_cifar10(data_dir / "cifar10", options);
  throw Error(ExitCode::usage, fmt::format("unknown data set \"{}\"", name),
              "workload.dataset.name", "expected mnist or cifar10");
}

}  // namespace memduel
