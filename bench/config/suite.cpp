#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "config/config_json.h"
#include "config/experiment.h"
#include "config/reference.h"
#include "model/keys.h"
#include "model/run_directory.h"
#include "model/validate.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel {
namespace {

/// One of a suite, as it is written.
struct SuiteEntry {
  std::string config;
  std::optional<std::string> name;
  std::vector<std::string> variants;
  std::map<std::string, nlohmann::json> set;
  std::map<std::string, std::vector<nlohmann::json>> matrix;
};

struct SuiteDocument {
  std::string name;
  std::vector<SuiteEntry> experiments;
};

const Keys<SuiteEntry>& keys_of(const SuiteEntry*) {
  static const Keys<SuiteEntry> keys =
      Keys<SuiteEntry>("entry")
          .required("config", &SuiteEntry::config,
                    "Config of the experiment. Relative paths start at the directory of the suite.",
                    {{"minLength", 1}})
          .optional("name", &SuiteEntry::name,
                    "Name of its run in the suite. Default: the name of the config's file.",
                    {{"minLength", 1}, {"maxLength", kLongestTitle}})
          .optional("variants", &SuiteEntry::variants,
                    "Variants to run, the baseline among them. Default: all of the config.",
                    {{"minItems", 2}})
          .optional("set", &SuiteEntry::set,
                    "Keys of the config to override, as --set does: path and value.")
          .optional("matrix", &SuiteEntry::matrix,
                    "Lists of values, by path in the config. The experiment runs once for every "
                    "combination.",
                    {{"minProperties", 1}, {"additionalProperties", {{"minItems", 1}}}});
  return keys;
}

const Keys<SuiteDocument>& keys_of(const SuiteDocument*) {
  static const Keys<SuiteDocument> keys =
      Keys<SuiteDocument>("suite")
          .judged(
              "$schema",
              R"({"type": "string", "description": "URL or path of this schema, for editors."})")
          .required("name", &SuiteDocument::name, "Title of the suite on its page.",
                    {{"minLength", 1}, {"maxLength", kLongestTitle}})
          .required("experiments", &SuiteDocument::experiments,
                    "Experiments, which run one after the other in this order.", {{"minItems", 1}});
  return keys;
}

constexpr const char* kOwnName = "give it its own \"name\"";

using nlohmann::json;

std::string assignment(const std::string& path, const json& value) {
  return fmt::format("{}={}", path, value.dump());
}

/// "clients-2" of workload.clients and 2.
std::string cell_name(const std::string& path, const json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return fmt::format("{}-{}", path.substr(path.rfind('.') + 1), text);
}

/// One of the experiments of a suite with its place.
struct PlacedEntry {
  const SuiteEntry& entry;
  JsonPath path;
  const Places& places;

  void set(SuiteExperiment& one, const std::string& path_in_config, const json& value,
           const JsonPath& at) const {
    one.set.push_back(assignment(path_in_config, value));
    one.set_places[one.set.back()] = places.at(at);
  }
};

/// The experiment once for every value of a path.
std::vector<SuiteExperiment> multiplied(const std::vector<SuiteExperiment>& all,
                                        const PlacedEntry& placed, const std::string& path,
                                        const std::vector<json>& values) {
  const JsonPath matrix = below(placed.path, "matrix");
  if (all.size() * values.size() > kMostSuiteExperiments)
    throw Error(ExitCode::usage,
                fmt::format("expected a matrix of at most {1} experiments, found {0} or more",
                            all.size() * values.size(), kMostSuiteExperiments),
                placed.places.at(matrix), "use fewer values, or split it into two suites");
  std::vector<SuiteExperiment> product;
  for (const SuiteExperiment& one : all) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      SuiteExperiment cell = one;
      cell.name += "-" + cell_name(path, values[i]);
      placed.set(cell, path, values[i], below(below(matrix, path), i));
      cell.matrix.push_back(cell.set.back());
      product.push_back(std::move(cell));
    }
  }
  return product;
}

std::vector<SuiteExperiment> experiments_of(const PlacedEntry& placed,
                                            const std::filesystem::path& directory) {
  const SuiteEntry& entry = placed.entry;
  SuiteExperiment first;
  first.config = directory / entry.config;
  first.name = entry.name.value_or(first.config.stem().string());
  first.variants = entry.variants;
  if (!first.variants.empty())
    first.variants_place = placed.places.at(below(placed.path, "variants"));
  for (const auto& [path, value] : entry.set)
    placed.set(first, path, value, below(below(placed.path, "set"), path));
  std::vector<SuiteExperiment> cells = {std::move(first)};
  for (const auto& [path, values] : entry.matrix) cells = multiplied(cells, placed, path, values);
  return cells;
}

}  // namespace

Schema suite_schema_in_order() {
  Schema schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                   {"title", "A suite of memduel experiments"}};
  schema.update(whole_schema_of<SuiteDocument>());
  return schema;
}

bool is_suite(const std::filesystem::path& path) {
  std::error_code unreadable;
  if (!std::filesystem::is_regular_file(path, unreadable)) return false;  // a pipe is read once
  const json document = parse_config_text(read_text_file(path), path.string()).root;
  return document.is_object() && document.contains("experiments");
}

Suite load_suite(const std::filesystem::path& path) {
  const ConfigTree tree = parse_config_text(read_text_file(path), path.string());
  const auto document = read_valid<SuiteDocument>(tree.root, tree.places);
  Suite suite{document.name, {}};
  std::map<std::string, std::string> places;  // by the name of the directory that it gets
  for (std::size_t at = 0; at < document.experiments.size(); ++at) {
    const PlacedEntry entry{
        document.experiments[at], {"experiments", std::to_string(at)}, tree.places};
    const std::string place = tree.places.at(entry.path);
    for (SuiteExperiment& one : experiments_of(entry, path.parent_path())) {
      one.name = file_name_for(one.name);
      for (const char* kept : {kSuitePage, kSuiteFile, kLockFile})
        if (one.name == kept)
          throw Error(ExitCode::usage,
                      fmt::format("found the name \"{}\", which a file of the suite uses", kept),
                      place, kOwnName);
      const auto [known, is_new] = places.emplace(one.name, place);
      if (!is_new)
        throw Error(ExitCode::usage,
                    fmt::format("found the name \"{}\" twice, also in {}", one.name, known->second),
                    place, kOwnName);
      suite.experiments.push_back(std::move(one));
    }
  }
  if (suite.experiments.size() > kMostSuiteExperiments)
    throw Error(ExitCode::usage,
                fmt::format("expected at most {1} experiments, found {0}", suite.experiments.size(),
                            kMostSuiteExperiments),
                path.string(), "split it into two suites");
  return suite;
}

}  // namespace memduel
