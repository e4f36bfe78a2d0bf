#include "config/experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "command_workload.h"
#include "config/arms.h"
#include "config/config_json.h"
#include "config/job.h"
#include "config/placeholders.h"
#include "model/job_facts.h"
#include "model/removed.h"
#include "model/run_directory.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel {
namespace {

using nlohmann::json;

/// Where a config came from and what its arms may name.
struct Source {
  std::string file;
  std::filesystem::path directory;
  const AskProvider& ask;
  std::string origin = file;           ///< says so where a provider made what is read
  std::vector<std::string> arms = {};  // NOLINT(readability-redundant-member-init): -Wextra
  bool expanded = false;               ///< workload and arms are a provider's
};

std::string arm_place(const Source& source, std::size_t index) {
  return json_place(source.file, {"variants", std::to_string(index)});
}

/// Where the file has the arm, also where --variants left others out; behind its last one for a
/// twin.
std::string index_of(const Source& source, const std::string& name) {
  const auto found = std::ranges::find(source.arms, name);
  return std::to_string(found - source.arms.begin());
}

std::string arm_place(const Source& source, const std::string& name) {
  return json_place(source.file, {"variants", index_of(source, name)});
}

std::vector<std::string> arm_names(const json& arms) {
  std::vector<std::string> names;
  for (const json& arm : arms) names.push_back(arm.at("name"));
  return names;
}

void expect_arm(const std::string& name, const std::vector<std::string>& names,
                const std::string& place) {
  if (std::ranges::find(names, name) == names.end()) refuse_arm(name, names, place);
}

void refuse_repeated_names(const Source& source, const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (seen.insert(names[i]).second) continue;
    throw Error(ExitCode::usage, fmt::format("found the variant name \"{}\" twice", names[i]),
                arm_place(source, i) + ".name", "give every variant its own name");
  }
}

json selected_arms(const json& arms, const std::vector<std::string>& wanted,
                   const std::string& baseline) {
  const auto names = arm_names(arms);
  for (const std::string& name : wanted) expect_arm(name, names, "--variants");
  json selected = json::array();
  for (const json& arm : arms) {
    const bool keep = std::ranges::find(wanted, arm.at("name").get<std::string>()) != wanted.end();
    if (keep) selected.push_back(arm);
  }
  expect_arm(baseline, arm_names(selected), "--variants, baseline");
  return selected;
}

void add_twin(json& arms, const std::string& baseline) {
  for (const json& arm : arms) {
    if (arm.contains("twin_of")) return;
  }
  const auto found =
      std::ranges::find_if(arms, [&](const json& arm) { return arm.at("name") == baseline; });
  json twin = *found;
  twin["name"] = twin_name(baseline);
  twin["twin_of"] = baseline;
  arms.push_back(std::move(twin));
}

/// The gates that the config names, where the overrides have others. What is no list of texts, the
/// schema refuses.
std::vector<std::string> replaced_gates(const json& document, const Overrides& overrides) {
  std::vector<std::string> replaced;
  if (overrides.gates.empty() || !document.is_object()) return replaced;
  for (const json& gate : document.value("gates", json::array()))
    if (gate.is_string()) replaced.push_back(gate);
  if (replaced == overrides.gates) replaced.clear();
  return replaced;
}

void apply_overrides(json& document, const Overrides& overrides) {
  for (const std::string& assignment : overrides.set) set_json_value(document, assignment);
  if (overrides.repeats)
    set_json_value(document, fmt::format("measure.repeats={}", *overrides.repeats));
  if (overrides.warmups)
    set_json_value(document, fmt::format("measure.warmups={}", *overrides.warmups));
  if (!overrides.gates.empty()) document["gates"] = overrides.gates;
}

void refuse_unknown_ablation_arms(const json& document, const Source& source) {
  const auto names = arm_names(document.at("variants"));
  const json& ablation = document.at("ablation");
  expect_arm(ablation.at("candidate"), names, json_place(source.origin, {"ablation", "candidate"}));
  const json& switches = ablation.at("switches");
  for (std::size_t i = 0; i < switches.size(); ++i) {
    for (const char* view : {"added_alone", "removed_alone"}) {
      const json& cell = switches[i].at(view);
      if (!cell.contains("variant")) continue;
      const JsonPath place = {"ablation", "switches", std::to_string(i), view, "variant"};
      expect_arm(cell.at("variant"), names, json_place(source.origin, place));
    }
  }
}

/// Narrows the arms to those asked for and adds the twin; the document is valid by now.
void choose_arms(json& document, const Source& source, const Overrides& overrides) {
  json& arms = document.at("variants");
  const std::string baseline = document.at("baseline");
  refuse_repeated_names(source, arm_names(arms));
  expect_arm(baseline, arm_names(arms), json_place(source.origin, {"baseline"}));
  if (overrides.arms) {
    arms = selected_arms(arms, *overrides.arms, baseline);
    document.erase("ablation");  // it speaks of all its arms
  }
  if (overrides.calibrate) add_twin(arms, baseline);
  refuse_repeated_names(source, arm_names(arms));
  for (const json& arm : arms) {
    if (!arm.contains("twin_of")) continue;
    expect_arm(arm.at("twin_of"), arm_names(arms),
               arm_place(source, arm.at("name").get<std::string>()) + ".twin_of");
  }
  if (document.contains("ablation")) refuse_unknown_ablation_arms(document, source);
  if (arms.size() < 2) {
    throw Error(ExitCode::usage, "found one variant, expected two or more",
                json_place(source.origin, {"variants"}), "add a variant");
  }
}

void refuse_keys(const json& arm, const std::vector<std::string>& keys, const std::string& place) {
  for (const std::string& key : keys) {
    const auto found = arm.find(key);
    if (found == arm.end() || (found->is_object() && found->empty())) continue;
    throw Error(ExitCode::usage,
                fmt::format("found \"{}\", which workloads of kind command do not use", key),
                place + "." + key);
  }
}

void resolve_command_arm(json& arm, const Source& source, const std::string& place) {
  if (!source.expanded) {
    const std::vector<std::string> foreign = {"preset", "switches"};
    refuse_keys(arm, foreign, place);
    for (const std::string& key : foreign) arm.erase(key);
  }
  resolve_templates(arm["templates"], source.directory, place + ".templates");
  check_arm_texts(arm, place);
  if (arm.contains("cwd")) arm["cwd"] = resolve_path(arm["cwd"], source.directory);
}

Arm resolve_arm(json& arm, const json& workload, const Source& source) {
  const std::string name = arm.at("name");
  refuse_bad_environment(arm.at("env"), arm_place(source, name) + ".env");
  const std::string place = json_place(source.origin, {"variants", index_of(source, name)});
  Arm result;
  result.name = name;
  resolve_command_arm(arm, source, place);
  for (const json& process : processes_of_arm(workload, arm, place))
    result.processes.push_back(job_process_from_json(process));
  result.templates = job_templates_from_json(arm.at("templates"));
  if (source.expanded) result.optimizations = arm.at("switches");
  result.env = arm.at("env").get<std::map<std::string, std::string>>();
  if (arm.contains("allocator"))
    result.allocator = allocator_named(arm.at("allocator").get<std::string>());
  if (arm.contains("twin_of")) result.twin_of = arm.at("twin_of").get<std::string>();
  return result;
}

bool same_program(const Arm& a, const Arm& b) {
  return a.optimizations == b.optimizations && a.env == b.env && a.processes == b.processes &&
         a.templates == b.templates && a.allocator == b.allocator;
}

void refuse_equal_arms(const std::vector<Arm>& arms, const Source& source) {
  for (std::size_t i = 0; i < arms.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (arms[i].twin_of || arms[j].twin_of || !same_program(arms[i], arms[j])) continue;
      throw Error(ExitCode::usage,
                  fmt::format("the variants \"{}\" and \"{}\" have the same program, arguments, "
                              "environment and directory",
                              arms[j].name, arms[i].name),
                  arm_place(source, arms[i].name), kMeasureTheNoise);
    }
  }
}

Measure measure_from_json(const json& source) {
  Measure measure;
  if (source.contains("repeats")) measure.repeats = source.at("repeats").get<int>();
  measure.warmups = source.value("warmups", measure.warmups);
  measure.warmup_rounds = source.at("warmup_rounds");
  measure.interval_ms = source.at("interval_ms");
  measure.meters = source.at("meters").get<std::vector<std::string>>();
  measure.seed = source.at("seed");
  measure.restricts_order = source.at("order") == "restricted";
  return measure;
}

/// One round more than the default leaves out is asked for: then some must be left.
void refuse_only_warmup_rounds(const json& document, const Source& source) {
  const json& workload = document.at("workload");
  const auto left_out = document.at("measure").at("warmup_rounds").get<std::int64_t>();
  for (const char* key : {"stop_after_round", "rounds"}) {
    if (!workload.contains(key)) continue;
    const auto rounds = workload.at(key).get<std::int64_t>();
    if (left_out <= 1 || left_out < rounds) return;
    throw Error(ExitCode::usage,
                fmt::format("found {}, which leaves none of the {} of a trial (workload.{})",
                            left_out, format_count(static_cast<std::size_t>(rounds), "round"), key),
                json_place(source.file, {"measure", "warmup_rounds"}),
                fmt::format("give less than {}", rounds));
  }
}

/// The resolved text must be UTF-8: it is hashed, stored and embedded into the report.
std::string canonical_text(const json& resolved, const std::string& origin) {
  try {
    return resolved.dump();
  } catch (const json::type_error&) {
    throw Error(ExitCode::usage,
                "found text that is not UTF-8, in it or in the name of its directory", origin);
  }
}

/// The order's seed is fresh for every run, the workload's the same for all.
void resolve_seeds(json& document, const Overrides& overrides) {
  json& measure = document["measure"];
  json& workload = document.at("workload");
  if (!workload.contains("seed"))
    workload["seed"] = measure.contains("seed") ? measure.at("seed") : json(1);
  if (overrides.seed)
    measure["seed"] = *overrides.seed;
  else if (!measure.contains("seed"))
    measure["seed"] = overrides.drawn_seed.value_or(1);
}

void resolve_gates(json& document, const Overrides& overrides, const Source& source) {
  if (overrides.strict_gates) document["strict_gates"] = true;
  const json& gates = document.at("gates");
  const bool named = std::ranges::find(gates, json(kDefaultGates)) != gates.end();
  if (!named) {
    if (overrides.no_default_gates)
      document["default_gates"] = false;
    else if (overrides.default_gates_if_named_only && !document.contains("default_gates"))
      document["default_gates"] = kDecideInCheck;
    return;
  }
  const std::string place = json_place(source.origin, {"gates"});
  if (overrides.no_default_gates)
    throw Error(ExitCode::usage, "the gates contain \"default\"", "--no-default-gates",
                "leave it out, or name other gates with --gate");
  if (overrides.gates.empty() && !default_gates_decide_in(document))
    throw Error(ExitCode::usage, "found \"default\" although default_gates is false", place,
                "remove one of them");
  document.erase("default_gates");
}

/// A kind of workload that is not built in has a provider, named or not.
void name_default_provider(json& document) {
  if (!document.is_object() || document.contains("provider")) return;
  const auto workload = document.find("workload");
  if (workload == document.end() || !workload->is_object()) return;
  const json kind = workload->value("kind", json());
  if (kind.is_string() && kind != "command") document["provider"] = {kDefaultProvider};
}

/// A config with a provider, whose own part the schema judges before the provider is asked.
std::optional<Expansion> expanded(json& document, Source& source, const Overrides& overrides) {
  name_default_provider(document);
  if (!document.is_object() || !document.contains("provider")) return std::nullopt;
  json rest = document;
  if (rest.contains("workload") && rest["workload"].is_object() &&
      rest["workload"].value("kind", json()).is_string())
    rest["workload"] = workload_to_be();
  validate_against_schema(rest, experiment_schema(), source.origin);
  const auto program = document["provider"][0].get<std::string>();
  if (const auto instead = replacement_for(Removed::program, program))
    throw Error(ExitCode::usage, fmt::format("found the program \"{}\"", program),
                json_place(source.origin, {"provider", "0"}), std::string(*instead));
  if (document["workload"]["kind"] == "command")
    throw Error(ExitCode::usage, "found a workload of kind command, which needs no provider",
                json_place(source.origin, {"provider"}), "leave it out, or name a kind of its own");
  source.arms = arm_names(document.at("variants"));
  choose_arms(document, source, overrides);
  std::vector<std::string> places;
  for (const std::string& name : arm_names(document.at("variants")))
    places.push_back(arm_place(source, name));
  Expansion expansion =
      expand(document, {source.file, source.directory, places}, overrides.resumed, source.ask);
  source.origin += fmt::format(", as {} expands it", program);
  source.directory = expansion.kept.value("directory", source.directory.string());
  source.expanded = true;
  return expansion;
}

Experiment resolve(json document, Source source, const Overrides& overrides) {
  std::vector<std::string> replaced = replaced_gates(document, overrides);
  apply_overrides(document, overrides);
  expand_arm_matrices(document, source.origin);
  std::optional<Expansion> expansion = expanded(document, source, overrides);
  validate_against_schema(document, experiment_schema(), source.origin);
  document = with_schema_defaults(std::move(document), experiment_schema());
  document.erase("$schema");
  resolve_seeds(document, overrides);
  resolve_gates(document, overrides, source);
  if (!source.expanded) {
    source.arms = arm_names(document.at("variants"));
    choose_arms(document, source, overrides);
  }
  json& workload = document.at("workload");
  resolve_command_workload(workload, source.directory, source.origin);
  if (!document.at("measure").contains("meters")) document["measure"]["meters"] = default_meters();
  Experiment experiment;
  experiment.name = document.at("name");
  experiment.baseline = document.at("baseline");
  experiment.workload = workload;
  experiment.facts = job_facts_of(workload);
  if (expansion) experiment.facts = with_answer(experiment.facts, expansion->kept, source.origin);
  experiment.job = job_from_json(workload);
  experiment.deadline_seconds = workload.at("deadline_seconds");
  experiment.seed = workload.at("seed");
  for (json& arm : document["variants"]) {
    experiment.arms.push_back(resolve_arm(arm, workload, source));
  }
  refuse_equal_arms(experiment.arms, source);
  refuse_only_warmup_rounds(document, source);
  experiment.measure = measure_from_json(document.at("measure"));
  if (document.contains("profile")) {
    experiment.profile_trials = document.at("profile").at("trials");
    experiment.tracers = document.at("profile").at("profilers").get<std::vector<std::string>>();
  }
  experiment.gates = document.at("gates").get<std::vector<std::string>>();
  if (overrides.gates.empty()) experiment.gates_place = json_place(source.file, {"gates"});
  experiment.replaced_gates = std::move(replaced);
  if (expansion) document = folded(std::move(document), *expansion);
  experiment.expansion = std::move(expansion);
  experiment.config_sha256 = sha256_hex(canonical_text(document, source.origin));
  experiment.resolved = std::move(document);
  return experiment;
}

}  // namespace

void refuse_arm(const std::string& name, const std::vector<std::string>& names,
                const std::string& place) {
  throw Error(
      ExitCode::usage,
      fmt::format("found \"{}\", expected the name of a variant: {}", name, fmt::join(names, ", ")),
      place, nearest_advice(name, names));
}

std::string twin_name(const std::string& baseline) {
  return baseline + "-twin";
}

Experiment parse_experiment(std::string_view text, const std::string& origin,
                            const std::filesystem::path& directory, const Overrides& overrides,
                            const AskProvider& ask) {
  json document = parse_json_text(text, origin);
  if (document.is_object() && document.contains("schema") && document["schema"].is_string())
    if (const auto instead =
            replacement_for(Removed::schema, document["schema"].get<std::string>()))
      throw Error(ExitCode::usage, "found no config", origin, std::string(*instead));
  return resolve(std::move(document), {origin, directory, ask}, overrides);
}

Experiment load_experiment(const std::filesystem::path& path, const Overrides& overrides,
                           const AskProvider& ask) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    const std::filesystem::path kept = path / kConfigFile;
    throw Error(
        ExitCode::io, "found a directory, expected a config", path.string(),
        std::filesystem::exists(kept, unknown) ? "a run keeps its config: " + kept.string() : "");
  }
  const std::string text = read_text_file(path);
  return parse_experiment(text, path.string(), std::filesystem::absolute(path).parent_path(),
                          overrides, ask);
}

}  // namespace memduel
