// Several experiments as one: which configs, with what changed, and in which order.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace memduel {

struct SuiteExperiment {
  std::string name;  ///< of its run in the suite: "clients-2", no other's
  std::filesystem::path config;
  std::vector<std::string> set;  ///< path=value, as --set takes them
  /// Those of `set` that its name tells.
  // NOLINTNEXTLINE(readability-redundant-member-init): -Wextra
  std::vector<std::string> matrix = {};
};

struct Suite {
  std::string name;
  std::vector<SuiteExperiment> experiments;  ///< matrices as one for each combination
};

/// A suite of more is a mistake in a matrix.
inline constexpr std::size_t kMostSuiteExperiments = 200;

/// Whether the file has "experiments", as no experiment does; a pipe is taken for one experiment.
/// Throws what load_suite throws for a file that is no JSON.
bool is_suite(const std::filesystem::path& path);

/// Reads a suite. Throws Error(usage) for a faulty one, two experiments of one name, and more than
/// kMostSuiteExperiments; Error(io) for an unreadable file. The configs themselves are not read.
Suite load_suite(const std::filesystem::path& path);

}  // namespace memduel
