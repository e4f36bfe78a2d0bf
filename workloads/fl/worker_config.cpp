#include "fl/worker_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fl/workload_keys.h"
#include "model/validate.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel {

SwitchFields::SwitchFields(const nlohmann::json& switches) : switches_(switches) {
  if (!switches.is_object())
    throw Error(ExitCode::usage, fmt::format("expected an object, found {}", switches.type_name()),
                "switches");
}

const nlohmann::json& SwitchFields::required(const std::string& name) {
  known_.insert(name);
  const auto found = switches_.find(name);
  if (found == switches_.end()) refuse(name, "missing");
  return *found;
}

void SwitchFields::refuse(const std::string& name, const std::string& what) {
  throw Error(ExitCode::usage, what, "switches." + name);
}

void SwitchFields::expect_no_more() const {
  const std::vector<std::string> known(known_.begin(), known_.end());
  for (const auto& [name, value] : switches_.items())
    if (!known_.contains(name))
      throw Error(
          ExitCode::usage, "found an unknown switch", "switches." + name,
          nearest_advice(name, known, fmt::format("expected one of: {}", fmt::join(known, ", "))));
}

const Keys<WorkerConfig>& keys_of(const WorkerConfig*) {
  static const Keys<WorkerConfig> keys =
      Keys<WorkerConfig>("worker")
          .add({"workload",
                KeyPresence::required,
                workload_schema,
                [](const nlohmann::json& value, WorkerConfig& config) {
                  config.workload = read_workload(value);
                },
                {}})
          .required("switches", &WorkerConfig::optimizations, "", {{"type", "object"}})
          .required("seed", &WorkerConfig::seed, "", {{"minimum", 0}})
          .required("meters", &WorkerConfig::meters, "")
          .required("trial_dir", &WorkerConfig::trial_dir, "")
          .required("data_dir", &WorkerConfig::data_dir, "")
          .required("address_file", &WorkerConfig::address_file, "")
          .required("model_file", &WorkerConfig::model_file, "")
          .optional("graph_file", &WorkerConfig::graph_file, "Of a graph workload.");
  return keys;
}

WorkerConfig parse_worker_config(const nlohmann::json& json, const std::string& name) {
  auto config = read_valid<WorkerConfig>(json, Places(name));
  if (config.workload.kind == "graph" && config.graph_file.empty())
    throw Error(ExitCode::usage, "found no key \"graph_file\", which a graph workload requires",
                json_place(name, {}));
  return config;
}

WorkerConfig load_worker_config(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false,
                                          /*ignore_comments=*/true);
  if (json.is_discarded()) throw Error(ExitCode::usage, "not valid JSON", path.string());
  return parse_worker_config(json, path.string());
}

}  // namespace memduel
