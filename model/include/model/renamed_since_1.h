// The names in files of schema 1 (results.json, a run's config, calibrations; run.sqlite up to
// version 5), and what they are called since schema 2. Such a file is translated where it is read:
// no other code knows its names.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace memduel {

/// What a name is the name of.
enum class NameOf { role, metric, note, owner, gate_outcome, growth_verdict, switch_effect };

struct RenamedName {
  NameOf of;
  std::string_view was;
  std::string_view is;
};

std::span<const RenamedName> renamed_names();

/// The name since schema 2; `name` itself if it was not renamed.
std::string_view current_name(NameOf of, std::string_view name);

/// The name since schema 2 of a config's key: "variants" of "arms". std::nullopt for every other
/// name.
std::optional<std::string_view> new_name_of_key(std::string_view name);

/// Of a gate, or of its ROLE.METRIC: "tree.heap_held_free_bytes<=+2%" is
/// "all.heap_free_bytes<=+2%".
std::string current_gate(std::string_view gate);

// Each of these translates a document in place. Anything that is not where it should be stays as it
// is: the reader of the document reports it.

/// Throws Error(io) if a process has the role "all", which now stands for all processes.
void translate_results_1(nlohmann::json& results, const std::string& where);
void translate_calibration_1(nlohmann::json& calibration);
void translate_config_1(nlohmann::json& config);
/// JobFacts of a run.
void translate_job_1(nlohmann::json& job);
void translate_environment_1(nlohmann::json& environment);

/// The same refusal for a run.
[[noreturn]] void refuse_process_called_all(const std::string& where);

}  // namespace memduel
