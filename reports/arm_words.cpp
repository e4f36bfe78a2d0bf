#include "arm_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "util/command_line.h"

namespace memduel {
namespace {

using nlohmann::json;

const json kNothing;

/// A program below a directory, as it is called there.
std::string seen_from(const json& place, const std::string& program) {
  const std::string below = place.is_string() ? place.get<std::string>() + "/" : "";
  return below.size() > 1 && program.starts_with(below) ? program.substr(below.size()) : program;
}

/// What an arm changes of its job, part by part.
class ArmWords {
 public:
  ArmWords(const json& arm, const json& processes, Place place)
      : arm_(arm), processes_(processes), place_(place), one_process_(processes.size() == 1) {}

  std::string all() {
    add_text("preset", "preset ");
    add_pairs("env");
    if (one_process_) add_command(processes_.front());
    if (!one_process_) add_roles("argv", "");
    add_roles("append", one_process_ ? "" : "adds ");
    add_text("allocator", "under ");
    if (place_ == Place::told) add_text("cwd", "in ");
    return fmt::format("{}", fmt::join(parts_, " "));
  }

 private:
  void add_text(const char* key, const char* before) {
    if (const json& value = config_member(arm_, key); value.is_string())
      parts_.push_back(before + config_words(value));
  }

  void add_pairs(const char* key) {
    const json& pairs = config_member(arm_, key);
    if (!pairs.is_object()) return;
    for (const auto& [name, value] : pairs.items())
      parts_.push_back(name + "=" + config_words(value));
  }

  /// Of the arm, else of the job.
  void add_command(const json& process) {
    const json& own = config_member(arm_, "argv");
    const json& role = config_member(process, "role");
    json words = config_member(process, "argv");
    if (own.is_object() && role.is_string() && own.contains(role))
      words = own.at(role.get<std::string>());
    else if (own.is_object() && own.size() == 1)  // another run's only process
      words = own.front();
    if (words.is_null()) return;
    const json& place = config_member(arm_, "cwd");
    if (place_ == Place::left_out && words.is_array() && !words.empty() && words[0].is_string())
      words[0] = seen_from(place.is_string() ? place : config_member(process, "cwd"), words[0]);
    parts_.push_back(config_words(words));
  }

  void add_roles(const char* key, const std::string& verb) {
    const json& roles = config_member(arm_, key);
    if (!roles.is_object()) return;
    for (const auto& [role, words] : roles.items())
      parts_.push_back((one_process_ ? "" : role + ": ") + verb + config_words(words));
  }

  const json& arm_;
  const json& processes_;
  Place place_;
  bool one_process_;
  std::vector<std::string> parts_;
};

}  // namespace

const json& config_member(const json& object, const char* key) {
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

const json& arm_of(const json& config, const std::string& name) {
  const json& arms = config_member(config, "variants");
  if (!arms.is_array()) return kNothing;
  const auto found = std::ranges::find_if(
      arms, [&](const json& arm) { return config_member(arm, "name") == name; });
  return found == arms.end() ? kNothing : *found;
}

std::string config_words(const json& value) {
  if (!value.is_array()) return value.is_string() ? value.get<std::string>() : value.dump();
  std::vector<std::string> words;
  for (const json& word : value)
    if (word.is_string()) words.push_back(word.get<std::string>());
  return quoted_command_line(words);
}

std::string arm_words(const json& arm, const json& processes, Place place) {
  return ArmWords(arm, processes, place).all();
}

std::string baseline_words(const json& config) {
  std::set<std::string> changed;
  for (const json& arm : config_member(config, "variants"))
    for (const char* key : {"argv", "append"})
      for (const auto& [role, words] : config_member(arm, key).items()) changed.insert(role);
  std::vector<std::string> parts;
  for (const json& process : config_member(config_member(config, "workload"), "processes")) {
    const json& role = config_member(process, "role");
    if (role.is_string() && changed.contains(role.get<std::string>()))
      parts.push_back(fmt::format("{}: {}", role.get<std::string>(),
                                  config_words(config_member(process, "argv"))));
  }
  return parts.empty() ? "the baseline" : fmt::format("{}", fmt::join(parts, " "));
}

}  // namespace memduel
