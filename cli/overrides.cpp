#include "overrides.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "config/config_json.h"
#include "model/job_facts.h"
#include "model/keys.h"
#include "model/run_directory.h"
#include "run/store.h"
#include "util/error.h"
#include "util/file.h"
#include "util/json.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// What an option sets, as --set would.
struct GivenValue {
  std::string option;
  std::string assignment;
};

std::vector<GivenValue> values_of_options(const RunOptions& options) {
  std::vector<GivenValue> values;
  const auto add = [&](const char* option, const char* path, const json& value) {
    values.push_back({option, fmt::format("{}={}", path, value.dump())});
  };
  if (options.repeats) add("--repeats", "measure.repeats", *options.repeats);
  if (options.warmups) add("--warmup", "measure.warmups", *options.warmups);
  if (options.seed) add("--seed", "measure.seed", *options.seed);
  if (options.no_why) add("--no-why", "profile.trials", 0);
  if (!options.gate.named.empty()) add("--gate", "gates", options.gate.named);
  if (options.gate.strict) add("--gate-strict", "strict_gates", true);
  if (options.gate.no_defaults) add("--no-default-gates", "default_gates", false);
  if (std::ranges::find(options.gate.named, kDefaultGates) != options.gate.named.end())
    add("--gate default", "default_gates", true);
  return values;
}

std::vector<GivenValue> values_of_set(const RunOptions& options) {
  std::vector<GivenValue> values;
  for (const std::string& assignment : options.set)
    values.push_back({"--set " + assignment, assignment});
  return values;
}

/// Whether `later` replaces or removes what `earlier` sets in the document; it may add to it.
bool undoes(const std::string& later, const std::string& earlier, json document) {
  set_json_value(document, earlier);
  set_json_value(document, later);
  json again = document;
  set_json_value(again, earlier);
  const json values = document.flatten();
  const json restored = again.flatten();
  return std::ranges::any_of(restored.items(), [&](const auto& item) {
    return !values.contains(item.key()) || values.at(item.key()) != item.value();
  });
}

/// Whether `assignment` sets the value at a path of an otherwise empty config, or around it.
bool sets(const std::string& assignment, const std::string& path) {
  json document;
  set_json_value(document, assignment);
  json marked = document;
  try {
    set_json_value(marked, path + "=0");
  } catch (const Error&) {
    return true;  // the path leads through a value that is set
  }
  json::json_pointer place;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t dot = std::min(path.find('.', at), path.size());
    place /= path.substr(at, dot - at);
    at = dot + 1;
  }
  return document.contains(place);
}

[[noreturn]] void refuse_twice(const std::string& one, const std::string& other) {
  throw Error(ExitCode::usage, fmt::format("found {} and {}, which set the same value", one, other),
              "", "give one of them");
}

void refuse_values_given_twice(const RunOptions& options) {
  const std::vector<GivenValue> set = values_of_set(options);
  for (const GivenValue& value : values_of_options(options)) {
    const std::string path = value.assignment.substr(0, value.assignment.find('='));
    for (const GivenValue& other : set)
      if (sets(other.assignment, path)) refuse_twice(value.option, other.option);
  }
  for (std::size_t later = 1; later < set.size(); ++later)
    for (std::size_t earlier = 0; earlier < later; ++earlier)
      if (undoes(set[later].assignment, set[earlier].assignment, json()))
        refuse_twice(set[earlier].option, set[later].option);
}

/// The order of a run that is resumed, else a fresh one.
std::uint64_t order_seed(const std::optional<Document>& resumed) {
  if (resumed && resumed->measure.seed) return *resumed->measure.seed;
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32 | device()) & std::uint64_t{kMostSeed};
}

}  // namespace

std::vector<std::string> assignments_in_effect(const RunOptions& options) {
  std::vector<std::string> all = options.set_by_suite;
  all.insert(all.end(), options.set.begin(), options.set.end());
  const auto path_of = [](const std::string& assignment) {
    return assignment.substr(0, assignment.find('='));
  };
  std::vector<std::string> kept;
  for (std::size_t at = 0; at < all.size(); ++at) {
    bool replaced = false;
    for (std::size_t later = at + 1; later < all.size(); ++later)
      replaced = replaced || path_of(all[later]) == path_of(all[at]);
    for (const GivenValue& value : values_of_options(options))
      replaced = replaced || path_of(value.assignment) == path_of(all[at]);
    if (!replaced) kept.push_back(all[at]);
  }
  return kept;
}

bool has_assignment(const std::vector<std::string>& assignments, const std::string& path) {
  return std::ranges::any_of(assignments,
                             [&](const std::string& assignment) { return sets(assignment, path); });
}

std::optional<Document> config_of_resumed(const RunOptions& options) {
  if (!options.resume || !options.out || !has_run(*options.out)) return std::nullopt;
  refuse_resume_of_earlier(*options.out);
  return read_config(*options.out);
}

Overrides overrides_from(const RunOptions& options) {
  if (options.resume && !options.out)
    throw Error(ExitCode::usage, "needs --out DIR, the directory of the run", "--resume");
  refuse_values_given_twice(options);
  Overrides overrides;
  overrides.set = options.set_by_suite;
  overrides.set_places = options.places_in_suite;
  overrides.set.insert(overrides.set.end(), options.set.begin(), options.set.end());
  if (options.no_why) overrides.set.emplace_back("profile.trials=0");
  if (!options.arms.empty()) overrides.arms = options.arms;
  overrides.arms_place = options.arms_place;
  overrides.repeats = options.repeats;
  overrides.warmups = options.warmups;
  overrides.gates = options.gate.named;
  overrides.strict_gates = options.gate.strict;
  overrides.no_default_gates = options.gate.no_defaults;
  overrides.seed = options.seed;
  overrides.resumed = config_of_resumed(options);
  overrides.drawn_seed = order_seed(overrides.resumed);
  return overrides;
}

void refuse_change_of_commands(const Document& given, const RunOptions& options) {
  const json document = given_in(given);
  const auto values_of = [](const json& all) {
    return json({{"variants", all.at("variants")}, {"workload", all.at("workload")}}).flatten();
  };
  const json before = values_of(document);
  for (const std::string& assignment : options.set) {
    json changed = document;
    set_json_value(changed, assignment);
    const json after = values_of(changed);
    for (const auto& [path, value] : before.items())
      if (!value.is_null() && (!after.contains(path) || after.at(path) != value))
        throw Error(ExitCode::usage, "overrides a value of an option of compare",
                    "--set " + assignment, "omit it, or change the option");
  }
}

void refuse_change_of_matrix(const SuiteExperiment& part, const RunOptions& options) {
  if (part.matrix.empty()) return;
  json document = parse_config_text(read_text_file(part.config), part.config.string()).root;
  for (const std::string& assignment : part.set) set_json_value(document, assignment);
  std::vector<GivenValue> values = values_of_options(options);
  for (GivenValue& value : values_of_set(options)) values.push_back(std::move(value));
  for (const GivenValue& value : values)
    for (const std::string& cell : part.matrix)
      if (undoes(value.assignment, cell, document))
        throw Error(ExitCode::usage,
                    fmt::format("{} changes {}, a key of the suite's matrix: the names of its "
                                "experiments would be wrong",
                                value.option, cell.substr(0, cell.find('='))),
                    part.name, "omit it, or change the matrix");
}

}  // namespace memduel::cli
