#include "command_workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "config/config_json.h"
#include "config/job.h"
#include "config/placeholders.h"
#include "model/metric_catalogue.h"
#include "trial/marks.h"
#include "trial/trial_plan.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel {
namespace {

using nlohmann::json;

JsonPath process_path(std::size_t index) {
  return {"workload", "processes", std::to_string(index)};
}

[[noreturn]] void refuse(const std::string& origin, JsonPath path, const std::string& key,
                         const std::string& what, const std::string& advice = "") {
  path.push_back(key);
  throw Error(ExitCode::usage, what, json_place(origin, path), advice);
}

void check_role(const std::string& role, const std::vector<std::string>& taken,
                const std::string& origin, const JsonPath& path) {
  if (role == kTree)
    refuse(origin, path, "role", "found \"all\", which memduel uses for all processes together");
  if (std::ranges::find(taken, role) != taken.end()) {
    refuse(origin, path, "role", fmt::format("found \"{}\" twice", role),
           "give each process its own role, or one process a count");
  }
}

void check_after(const json& process, const std::vector<std::string>& earlier,
                 const std::string& origin, const JsonPath& path) {
  for (const std::string role : process.at("after")) {
    if (std::ranges::find(earlier, role) != earlier.end()) continue;
    refuse(origin, path, "after", fmt::format("found \"{}\", expected an earlier role", role),
           nearest_advice(role, earlier));
  }
}

void check_pattern(const std::string& pattern, const std::string& origin, JsonPath path,
                   const std::string& key) {
  try {
    LogPattern{pattern};
  } catch (const Error& error) {
    refuse(origin, std::move(path), key, error.what());
  }
}

void check_ready(const json& process, const std::string& origin, const JsonPath& path) {
  const auto ready = process.find("ready");
  if (ready == process.end()) return;
  const auto conditions = ready->count("port") + ready->count("log") + ready->count("file");
  if (conditions > 1) {
    refuse(origin, path, "ready", "found several conditions, expected one of port, log, file");
  }
  if (!ready->contains("log")) return;
  JsonPath at = path;
  at.emplace_back("ready");
  check_pattern(ready->at("log"), origin, at, "log");
}

/// A matched role may have several patterns, but a process has its role from the config alone.
void check_matches(const json& workload, const std::vector<std::string>& taken,
                   const std::string& origin) {
  std::size_t index = 0;
  for (const json& match : workload.at("match")) {
    const JsonPath path = {"workload", "match", std::to_string(index++)};
    check_role(match.at("role"), taken, origin, path);
    check_pattern(match.at("pattern"), origin, path, "pattern");
  }
}

void refuse_outside_trial(const std::string& file, const std::string& place,
                          const std::string& why) {
  const auto below = std::filesystem::path(file).lexically_normal().string();
  if (below.starts_with("{trial_dir}/") && !below.ends_with("/")) return;
  throw Error(ExitCode::usage,
              fmt::format("found \"{}\", expected a file below {{trial_dir}}", file), place, why);
}

void resolve_files(json& workload, const std::filesystem::path& directory,
                   const std::string& origin) {
  std::vector<std::string> names;
  for (json& each : workload.at("files")) {
    const JsonPath path = {"workload", "files", std::to_string(names.size())};
    const std::string name = each.at("name");
    if (std::ranges::find(names, name) != names.end()) {
      refuse(origin, path, "name", fmt::format("found \"{}\" twice", name));
    }
    names.push_back(name);
    each["path"] = resolve_path(each.at("path"), directory);
  }
}

void apply_arguments(json& processes, const json& arm, const std::string& key,
                     const std::string& place) {
  for (const auto& change : arm.at(key).items()) {
    std::vector<std::string> roles;
    json* target = nullptr;
    for (json& process : processes) {
      roles.push_back(process.at("role"));
      if (roles.back() == change.key()) target = &process;
    }
    if (target == nullptr) {
      throw Error(ExitCode::usage, fmt::format("found unknown role \"{}\"", change.key()),
                  place + "." + key, nearest_advice(change.key(), roles));
    }
    json& argv = (*target)["argv"];
    if (key == "argv") argv = json::array();
    for (const json& argument : change.value()) argv.push_back(argument);
  }
}

void check_that_it_ends(const json& workload, const std::string& origin) {
  const json& processes = workload.at("processes");
  const bool ends = std::ranges::any_of(
      processes, [](const json& process) { return process.at("end") == "wait"; });
  if (ends || workload.contains("stop_after_round")) return;
  refuse(origin, {"workload"}, "processes",
         "found \"end\": \"stop\" in all of them: nothing ends a trial", kGiveATrialAnEnd);
}

/// What stands for a group must not be somebody's own name.
void check_groups(const json& workload, const std::vector<std::string>& taken,
                  const std::string& origin) {
  for (const RoleGroup& group : job_facts_of(workload).groups) {
    for (const std::string& name : {group.largest(), group.median()}) {
      if (std::ranges::find(taken, name) == taken.end()) continue;
      refuse(
          origin, {"workload"}, "processes",
          fmt::format("found the role \"{}\", which memduel uses for all of {}", name, group.name),
          "give it another name");
    }
  }
}

/// The role whose rounds others may take has to be there, and to have some.
void check_reference(const json& workload, const std::vector<std::string>& names,
                     const std::string& origin) {
  const json& processes = workload.at("processes");
  auto reference = processes.begin();
  if (workload.contains("reference")) {
    const std::string named = workload.at("reference");
    reference = std::ranges::find_if(
        processes, [&](const json& process) { return process.at("role") == named; });
    if (reference == processes.end()) {
      refuse(origin, {"workload"}, "reference", not_a_role(named, names),
             nearest_advice(named, names));
    }
  }
  if (reference->value("rounds", "own") == "own") return;
  refuse(origin, process_path(static_cast<std::size_t>(reference - processes.begin())), "rounds",
         fmt::format("found \"reference\", but {} is the role whose rounds the others take",
                     reference->at("role").get<std::string>()),
         "leave it out here");
}

}  // namespace

void refuse_bad_environment(const json& env, const std::string& place) {
  constexpr char kNul = '\0';
  for (const auto& item : env.items()) {
    const std::string& name = item.key();
    const std::string value = item.value();
    const bool bad_name = name.empty() || name.find('=') != std::string::npos;
    if (!bad_name && name.find(kNul) == std::string::npos && value.find(kNul) == std::string::npos)
      continue;
    throw Error(ExitCode::usage,
                fmt::format("found the variable \"{}\", which no environment can hold",
                            name.substr(0, name.find(kNul))),
                place, "names are not empty and have no '='; neither names nor values hold a NUL");
  }
}

std::string resolve_path(const std::string& path, const std::filesystem::path& directory) {
  if (path.starts_with("{trial_dir}")) return path;
  return (directory / path).lexically_normal().string();
}

void resolve_templates(json& templates, const std::filesystem::path& directory,
                       const std::string& place) {
  std::size_t index = 0;
  for (json& each : templates) {
    const std::string at = fmt::format("{}[{}]", place, index++);
    refuse_outside_trial(each.at("to"), at + ".to", "a copy belongs to one trial and goes with it");
    if (each.contains("from") == each.contains("json"))
      throw Error(ExitCode::usage, "expected one of \"from\" and \"json\"", at);
    if (each.contains("from")) each["from"] = resolve_path(each.at("from"), directory);
  }
}

void resolve_command_workload(json& workload, const std::filesystem::path& directory,
                              const std::string& origin) {
  workload["cwd"] = resolve_path(workload.value("cwd", std::string(".")), directory);
  std::vector<std::string> earlier;
  std::vector<std::string> taken;
  std::size_t index = 0;
  for (json& process : workload.at("processes")) {
    const JsonPath path = process_path(index++);
    auto roles = roles_of_process(process);
    if (process.contains("count")) roles.push_back(process.at("role"));
    for (const std::string& role : roles) {
      check_role(role, taken, origin, path);
      taken.push_back(role);
    }
    check_after(process, earlier, origin, path);
    check_ready(process, origin, path);
    if (auto ready = process.find("ready"); ready != process.end() && ready->contains("file"))
      (*ready)["file"] = resolve_path(ready->at("file"), directory);
    refuse_bad_environment(process.at("env"), json_place(origin, path) + ".env");
    earlier.push_back(process.at("role"));
    process["cwd"] = process.contains("cwd") ? json(resolve_path(process["cwd"], directory))
                                             : workload.at("cwd");
  }
  check_that_it_ends(workload, origin);
  check_reference(workload, earlier, origin);
  check_matches(workload, taken, origin);
  for (const json& match : workload.at("match")) taken.push_back(match.at("role"));
  resolve_text_marks(workload, origin);
  check_declared_metrics(workload, origin);
  check_groups(workload, taken, origin);
  resolve_templates(workload.at("templates"), directory,
                    json_place(origin, {"workload", "templates"}));
  resolve_files(workload, directory, origin);
  if (const auto model = workload.find("final_model"); model != workload.end())
    refuse_outside_trial(model->at("path"), json_place(origin, {"workload", "final_model", "path"}),
                         "it is moved from there into the run");
  check_command_texts(workload, origin);
}

std::string not_a_role(const std::string& name, const std::vector<std::string>& roles) {
  return fmt::format("found \"{}\", expected the role of a process: {}", name,
                     fmt::join(roles, ", "));
}

std::vector<std::string> roles_of_process(const json& process) {
  const std::string role = process.at("role");
  if (!process.contains("count")) return {role};
  std::vector<std::string> roles;
  for (int index = 1; index <= process.at("count").get<int>(); ++index) {
    roles.push_back(fmt::format("{}-{}", role, index));
  }
  return roles;
}

json processes_of_arm(const json& workload, const json& arm, const std::string& place) {
  json processes = workload.at("processes");
  apply_arguments(processes, arm, "argv", place);
  apply_arguments(processes, arm, "append", place);
  for (json& process : processes) {
    process["env"].update(arm.at("env"));
    if (arm.contains("cwd")) process["cwd"] = arm.at("cwd");
  }
  return processes;
}

namespace {

using nlohmann::json;

[[noreturn]] void refuse_mark(const std::string& origin, JsonPath path, const char* key,
                              const std::string& what, const std::string& advice) {
  path.emplace_back(key);
  throw Error(ExitCode::usage, what, json_place(origin, path), advice);
}

/// Roles as the config names them, and each process of a counted one.
std::vector<std::string> names_of_roles(const json& workload) {
  std::vector<std::string> names;
  for (const json& process : workload.at("processes")) {
    names.push_back(process.at("role"));
    if (!process.contains("count")) continue;
    for (const std::string& role : roles_of_process(process)) names.push_back(role);
  }
  return names;
}

bool is_matched_role(const json& workload, const std::string& role) {
  const json& matches = workload.at("match");
  return std::ranges::any_of(matches, [&](const json& match) { return match.at("role") == role; });
}

void check_mark_role(const json& mark, const std::vector<std::string>& roles,
                     const std::string& origin, const JsonPath& path) {
  const std::string role = mark.at("role");
  if (std::ranges::find(roles, role) != roles.end()) return;
  refuse_mark(origin, path, "role", not_a_role(role, roles), nearest_advice(role, roles));
}

void resolve_from(json& mark, const std::string& origin, const JsonPath& path) {
  json& from = mark.at("from");
  if (from.is_object()) {
    const std::string file = from.at("file");
    if (!file.starts_with('/') && !file.starts_with("{trial_dir}"))
      from["file"] = "{trial_dir}/" + file;
    return;
  }
  if (from == "stdout" || from == "stderr") return;
  refuse_mark(
      origin, path, "from",
      fmt::format("found {}, expected \"stdout\", \"stderr\" or {{\"file\": PATH}}", from.dump()),
      nearest_advice(from.get<std::string>(), {"stdout", "stderr"}));
}

/// Descendants write to the streams of the process that memduel started.
void check_own_log(const json& mark, const std::string& origin, const JsonPath& path) {
  if (mark.at("from").is_object()) return;
  refuse_mark(origin, path, "from",
              fmt::format("found {}, expected {{\"file\": PATH}}", mark.at("from").dump()),
              fmt::format("{} is matched among the descendants of other roles and has no {} of its "
                          "own",
                          mark.at("role").get<std::string>(), mark.at("from").get<std::string>()));
}

void check_mark_pattern(const json& mark, const std::string& origin, const JsonPath& path) {
  try {
    const TextMarkPattern pattern(mark.at("pattern"));
  } catch (const Error& error) {
    refuse_mark(origin, path, "pattern", error.what(), error.advice());
  }
}

}  // namespace

void resolve_text_marks(json& workload, const std::string& origin) {
  const auto roles = names_of_roles(workload);
  std::size_t index = 0;
  for (json& mark : workload.at("marks")) {
    const JsonPath path = {"workload", "marks", std::to_string(index++)};
    resolve_from(mark, origin, path);
    if (is_matched_role(workload, mark.at("role"))) {
      check_own_log(mark, origin, path);
    } else {
      check_mark_role(mark, roles, origin, path);
    }
    check_mark_pattern(mark, origin, path);
  }
}

namespace {

using nlohmann::json;

/// Calls `visit` with each declaration and its place below the workload.
void each_declaration(const json& workload,
                      const std::function<void(const DeclaredDirection&, JsonPath)>& visit) {
  if (const auto metrics = workload.find("metrics"); metrics != workload.end()) {
    for (const auto& [name, metric] : metrics->items()) {
      const auto better = from_name<Direction>(metric.at("better").get<std::string>());
      visit({name, better.value_or(Direction::undeclared)}, {"metrics", name, "better"});
    }
  }
  std::size_t index = 0;
  for (const json& mark : workload.value("marks", json::array())) {
    const JsonPath place = {"marks", std::to_string(index++), "pattern"};
    const TextMarkPattern pattern(mark.at("pattern"));
    for (const DeclaredDirection& one : pattern.metrics()) visit(one, place);
  }
}

}  // namespace

std::map<std::string, Direction> declared_metrics(const json& workload) {
  std::map<std::string, Direction> declared;
  each_declaration(workload, [&](const DeclaredDirection& one, const JsonPath&) {
    Direction& better = declared[one.metric];
    if (one.better != Direction::undeclared) better = one.better;
  });
  return declared;
}

void check_declared_metrics(const json& workload, const std::string& origin) {
  struct Known {
    Direction better;
    std::string by;
  };
  std::map<std::string, Known> known;
  each_declaration(workload, [&](const DeclaredDirection& one, JsonPath path) {
    if (one.better == Direction::undeclared) return;
    path.insert(path.begin(), "workload");
    const Direction own = metric_info(one.metric).better;
    const Known first = own != Direction::undeclared ? Known{own, "memduel list metrics"}
                                                     : Known{one.better, format_json_path(path)};
    const Known& earlier = known.emplace(one.metric, first).first->second;
    if (earlier.better == one.better) return;
    throw Error(ExitCode::usage,
                fmt::format("found that {} is better for {}, but {} is better by {}",
                            to_name(one.better), one.metric, to_name(earlier.better), earlier.by),
                json_place(origin, path), "declare it once, or both alike");
  });
}

}  // namespace memduel
