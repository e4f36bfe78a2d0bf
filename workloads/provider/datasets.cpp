#include "provider/datasets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "util/error.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& directory, const std::string& file) {
  std::error_code ignored;
  return fs::is_regular_file(directory / file, ignored) ||
         fs::is_regular_file(directory / (file + ".gz"), ignored);
}

std::vector<std::string> missing_of(const std::vector<std::string>& files,
                                    const fs::path& directory) {
  std::vector<std::string> missing;
  for (const std::string& file : files) {
    if (!is_there(directory, file)) missing.push_back(file);
  }
  return missing;
}

std::vector<std::string> missing_files(const Dataset& dataset, const fs::path& directory) {
  return missing_of(dataset.files, directory);
}

void add_from_environment(std::vector<fs::path>& directories, const char* variable,
                          const char* below) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return;
  directories.push_back(*below == '\0' ? fs::path(value) : fs::path(value) / below);
}

const Dataset& known_dataset(const std::string& name) {
  const auto& all = known_datasets();
  const auto dataset = std::ranges::find(all, name, &Dataset::name);
  if (dataset == all.end())
    throw Error(ExitCode::usage, fmt::format("unknown data set \"{}\"", name));
  return *dataset;
}

/// What a folder has of it; empty where it has the whole.
std::string subset_in(const Dataset& dataset, const fs::path& directory) {
  return missing_of(dataset.whole, directory).empty() ? "" : dataset.subset;
}

/// A config that somebody sends must not read what lies elsewhere.
void refuse_outside(const fs::path& file) {
  const fs::path plain = file.lexically_normal();
  if (!plain.is_absolute() && *plain.begin() != "..") return;
  throw Error(ExitCode::usage,
              fmt::format("expected a file below a data folder, found \"{}\"", file.string()),
              "$.workload.dataset.file", "--data-dir names the folder");
}

/// With some of the rest nobody could say what was trained on.
void refuse_half(const Dataset& dataset, const fs::path& directory) {
  const auto missing = missing_of(dataset.whole, directory);
  if (missing.empty() || missing.size() == dataset.whole.size()) return;
  throw Error(ExitCode::io,
              fmt::format("incomplete: expected all files, or {}; found no {}", dataset.subset,
                          fmt::join(missing, ", ")),
              fmt::format("data set {} in {}", dataset.name, directory.string()),
              dataset.how_to_get);
}

fs::path find_files(const Dataset& dataset, const std::vector<fs::path>& directories) {
  for (const fs::path& directory : directories)
    if (missing_files(dataset, directory).empty() && subset_in(dataset, directory).empty())
      return directory;
  std::string looked;
  for (const fs::path& directory : directories) {
    const auto missing = missing_files(dataset, directory);
    if (missing.empty()) {
      refuse_half(dataset, directory);
      return directory;
    }
    looked += fmt::format("\n    {} (no {})", directory.string(), fmt::join(missing, ", "));
  }
  throw Error(ExitCode::io, fmt::format("the data set is missing; looked in{}", looked),
              "data set " + dataset.name,
              dataset.how_to_get +
                  ", or set its folder with --data-dir or "
                  "MEMDUEL_DATA_DIR");
}

}  // namespace

std::vector<fs::path> data_directories(const std::optional<fs::path>& data_dir) {
  std::vector<fs::path> directories;
  if (data_dir) directories.push_back(*data_dir);
  add_from_environment(directories, "MEMDUEL_DATA_DIR", "");
  directories.push_back(fs::path(MEMDUEL_SOURCE_DIR) / "data");
  directories.push_back(fs::path(MEMDUEL_SOURCE_DIR) / "workloads/data/datasets");
  add_from_environment(directories, "HOME", ".cache/memduel");
  for (fs::path& directory : directories) directory = fs::absolute(directory).lexically_normal();
  return directories;
}

const std::vector<Dataset>& known_datasets() {
  static const std::vector<Dataset> datasets = {
      {"mnist",
       "70,000 handwritten digits, 28 x 28: 60,000 to train and 10,000 to validate",
       {"mnist/t10k-images-idx3-ubyte", "mnist/t10k-labels-idx1-ubyte"},
       "run scripts/fetch-datasets.sh mnist",
       {"mnist/train-images-idx3-ubyte", "mnist/train-labels-idx1-ubyte"},
       "only the test set: 8,000 to train and 2,000 to validate"},
      {"cifar10",
       "60,000 color images, 32 x 32, in the binary layout: 50,000 to train, 10,000 to validate",
       {"cifar10/data_batch_1.bin", "cifar10/test_batch.bin"},
       "run scripts/fetch-datasets.sh cifar10",
       {"cifar10/data_batch_2.bin", "cifar10/data_batch_3.bin", "cifar10/data_batch_4.bin",
        "cifar10/data_batch_5.bin"},
       "only the first batch: 10,000 to train and 10,000 to validate"},
      {"dummy-cifar10",
       "random images with the shape of CIFAR-10, generated from the seed",
       {},
       ""},
      {"can-generated", "CAN bus traffic with attacks, generated from the seed, as graphs", {}, ""},
      {"can-log",
       "a CAN bus recording named in the workload, as graphs",
       {},
       "a log of candump -l or of HCRL's data sets"},
      {"synthetic-eeg", "sleep epochs with realistic spectra, generated from the seed", {}, ""},
      {"edf",
       "a night's EEG named in the workload, annotated with sleep stages",
       {},
       "a recording in EDF+ at 200 Hz"},
  };
  return datasets;
}

fs::path find_dataset(const std::string& name, const std::vector<fs::path>& directories) {
  return find_files(known_dataset(name), directories);
}

std::string whereabouts(const Dataset& dataset, const std::vector<fs::path>& directories) {
  if (dataset.how_to_get.empty()) return "needs no file";
  if (dataset.files.empty()) return "needs a file below a data folder: " + dataset.how_to_get;
  for (const fs::path& directory : directories) {
    if (!missing_files(dataset, directory).empty()) continue;
    const std::string subset = subset_in(dataset, directory);
    if (subset.empty()) return "in " + directory.string();
    return fmt::format("in {}, {}; for the whole set, {}", directory.string(), subset,
                       dataset.how_to_get);
  }
  return "not found: " + dataset.how_to_get;
}

std::string describe_data(const nlohmann::json& workload, const fs::path& directory) {
  const auto named = workload.find("dataset");
  if (named == workload.end()) return "";
  const Dataset& dataset = known_dataset(named->at("name"));
  if (dataset.whole.empty()) return "";
  const std::string subset = subset_in(dataset, directory);
  return dataset.name + ", " + (subset.empty() ? "whole" : subset);
}

fs::path find_data_dir(const nlohmann::json& workload, const std::vector<fs::path>& directories) {
  const auto dataset = workload.find("dataset");
  if (dataset == workload.end()) return {};
  Dataset wanted = known_dataset(dataset->at("name"));
  if (const auto file = dataset->find("file"); file != dataset->end()) {
    refuse_outside(*file);
    wanted.files.push_back(*file);
  }
  return find_files(wanted, directories);
}

}  // namespace memduel
