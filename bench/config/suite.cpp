#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "config/config_json.h"
#include "config/experiment.h"
#include "model/run_directory.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel {
namespace {

constexpr const char* kOwnName = "give it a \"name\" of its own";

using nlohmann::json;

std::string assignment(const std::string& path, const json& value) {
  return fmt::format("{}={}", path, value.dump());
}

/// "clients-2" of workload.clients and 2.
std::string cell_name(const std::string& path, const json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return fmt::format("{}-{}", path.substr(path.rfind('.') + 1), text);
}

/// The experiment once for every value of a path.
std::vector<SuiteExperiment> multiplied(const std::vector<SuiteExperiment>& all,
                                        const std::string& path, const json& values,
                                        const std::string& place) {
  if (all.size() * values.size() > kMostSuiteExperiments)
    throw Error(ExitCode::usage,
                fmt::format("found a matrix of {} experiments or more, expected at most {}",
                            all.size() * values.size(), kMostSuiteExperiments),
                place, "name fewer values, or make two suites of it");
  std::vector<SuiteExperiment> product;
  for (const SuiteExperiment& one : all) {
    for (const json& value : values) {
      SuiteExperiment cell = one;
      cell.name += "-" + cell_name(path, value);
      cell.set.push_back(assignment(path, value));
      cell.matrix.push_back(cell.set.back());
      product.push_back(std::move(cell));
    }
  }
  return product;
}

std::vector<SuiteExperiment> experiments_of(const json& entry,
                                            const std::filesystem::path& directory,
                                            const std::string& place) {
  SuiteExperiment first;
  first.config = directory / entry.at("config").get<std::string>();
  first.name = entry.value("name", first.config.stem().string());
  const json set = entry.value("set", json::object());
  const json matrix = entry.value("matrix", json::object());
  for (const auto& [path, value] : set.items()) first.set.push_back(assignment(path, value));
  std::vector<SuiteExperiment> cells = {std::move(first)};
  for (const auto& [path, values] : matrix.items())
    cells = multiplied(cells, path, values, place + ".matrix");
  return cells;
}

json read_document(const std::filesystem::path& path) {
  return parse_json_text(read_text_file(path), path.string());
}

}  // namespace

bool is_suite(const std::filesystem::path& path) {
  std::error_code unreadable;
  if (!std::filesystem::is_regular_file(path, unreadable)) return false;  // a pipe is read once
  const json document = read_document(path);
  return document.is_object() && document.contains("experiments");
}

Suite load_suite(const std::filesystem::path& path) {
  const json document = read_document(path);
  validate_against_schema(document, suite_schema(), path.string());
  Suite suite{document.at("name"), {}};
  std::map<std::string, std::string> places;  // by the name of the directory that it gets
  const json& entries = document.at("experiments");
  for (std::size_t at = 0; at < entries.size(); ++at) {
    const std::string place = json_place(path.string(), {"experiments", std::to_string(at)});
    for (SuiteExperiment& one : experiments_of(entries[at], path.parent_path(), place)) {
      one.name = file_name_for(one.name);
      for (const char* kept : {kSuitePage, kSuiteFile, kLockFile})
        if (one.name == kept)
          throw Error(ExitCode::usage,
                      fmt::format("found the name \"{}\", which a file of the suite has", kept),
                      place, kOwnName);
      const auto [known, is_new] = places.emplace(one.name, place);
      if (!is_new)
        throw Error(
            ExitCode::usage,
            fmt::format("found the name \"{}\", which {} has, too", one.name, known->second), place,
            kOwnName);
      suite.experiments.push_back(std::move(one));
    }
  }
  if (suite.experiments.size() > kMostSuiteExperiments)
    throw Error(ExitCode::usage,
                fmt::format("found {} experiments, expected at most {}", suite.experiments.size(),
                            kMostSuiteExperiments),
                path.string(), "make two suites of it");
  return suite;
}

}  // namespace memduel
