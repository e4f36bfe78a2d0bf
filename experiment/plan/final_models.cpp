#include "experiment/plan/final_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/capture.h"
#include "base/error.h"
#include "base/installed.h"
#include "base/run_directory.h"
#include "base/sha256.h"
#include "experiment/config/placeholders.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// Enough to see how far apart two arms are when every trial ends with another model.
constexpr std::size_t kModelsComparedPerArm = 3;

std::map<std::string, std::set<std::string>> hashes_by_arm(const RunData& run) {
  std::map<std::string, std::set<std::string>> hashes;
  for (const TrialData& trial : run.trials) {
    if (trial.counts() && trial.model_sha256) hashes[trial.arm].insert(*trial.model_sha256);
  }
  return hashes;
}

std::vector<std::string> some(const std::set<std::string>& hashes) {
  std::vector<std::string> result(hashes.begin(), hashes.end());
  result.resize(std::min(result.size(), kModelsComparedPerArm));
  return result;
}

Note varying_model(const std::string& arm, std::size_t count) {
  return {"final_model_varies",
          fmt::format("the trials of arm {} end with {} different models", arm, count),
          "a workload that is not deterministic can hide that it computes something else; fix its "
          "seeds and threads"};
}

}  // namespace

fs::path model_copy(const fs::path& run_directory, const std::string& arm,
                    const std::string& sha256) {
  constexpr std::size_t kDigits = 12;
  return run_directory / kModelsFolder / fmt::format("{}-{}.bin", arm, sha256.substr(0, kDigits));
}

std::string keep_model(const fs::path& run_directory, const std::string& arm,
                       const fs::path& model) {
  const std::string sha256 = sha256_hex_of_file(model);
  const fs::path copy = model_copy(run_directory, arm, sha256);
  try {
    fs::create_directories(copy.parent_path());
    if (!fs::exists(copy)) fs::rename(model, copy);
  } catch (const fs::filesystem_error& error) {
    throw Error(ExitCode::io,
                fmt::format("cannot keep the final model: {}", error.code().message()),
                copy.string());
  }
  return sha256;
}

double difference_of_models(const JobModel& model, const fs::path& a, const fs::path& b) {
  Argv argv;
  for (const std::string& word : model.compare)
    argv.push_back(fill_known_placeholders(word, [&](const std::string& name) {
      return std::optional((name == "a" ? a : b).string());
    }));
  argv.front() = own_program(argv.front());
  const Captured answer = capture(argv);
  if (answer.exit_status != 0)
    throw Error(ExitCode::io,
                fmt::format("ended with status {}: {}", answer.exit_status, answer.err),
                argv.front());
  const auto value = nlohmann::json::parse(answer.out, nullptr, false);
  const auto difference = value.is_object() ? value.find("max_abs_diff") : value.end();
  if (difference == value.end() || !difference->is_number())
    throw Error(ExitCode::io, "gave no max_abs_diff", argv.front());
  return difference->get<double>();
}

ModelComparison compare_final_models(
    const fs::path& run_directory, const RunData& run, const std::string& baseline,
    const std::vector<std::string>& candidates,
    const std::function<double(const fs::path&, const fs::path&)>& compare) {
  ModelComparison result;
  auto hashes = hashes_by_arm(run);
  for (const auto& [arm, distinct] : hashes) {
    if (distinct.size() > 1) result.warnings.push_back(varying_model(arm, distinct.size()));
  }
  for (const std::string& candidate : candidates) {
    const auto& a = hashes[baseline];
    const auto& b = hashes[candidate];
    if (a.empty() || b.empty()) continue;
    ModelDifference difference{baseline, candidate, a.size() == 1 && a == b, {}};
    try {
      double largest = 0;
      for (const std::string& one : some(a)) {
        for (const std::string& other : some(b)) {
          if (one == other) continue;
          largest = std::max(largest, compare(model_copy(run_directory, baseline, one),
                                              model_copy(run_directory, candidate, other)));
        }
      }
      difference.max_abs_diff = largest;
    } catch (const Error& error) {
      result.warnings.push_back(
          {"models_not_compared",
           fmt::format("the final models of {} and {} differ and could not be "
                       "compared: {}",
                       baseline, candidate, error.message()),
           "compare the files in models/"});
    }
    result.differences.push_back(std::move(difference));
  }
  return result;
}

}  // namespace memduel
