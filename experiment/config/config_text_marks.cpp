#include "experiment/config/config_text_marks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "experiment/config/config_command.h"
#include "experiment/config/json_text.h"
#include "experiment/marks/text_mark_pattern.h"

namespace memduel {
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

}  // namespace memduel
