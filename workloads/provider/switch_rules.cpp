#include "switch_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "catalogue.h"
#include "fl/transport.h"
#include "util/error.h"

namespace memduel {
namespace {

using nlohmann::json;

constexpr std::string_view kWorkload = "workload.";

/// What an arm runs.
struct Settings {
  const json& switches;
  const json& workload;

  /// Null where there is no such setting.
  [[nodiscard]] const json* find(const std::string& setting) const {
    if (!setting.starts_with(kWorkload)) {
      const auto found = switches.find(setting);
      return found == switches.end() ? nullptr : &*found;
    }
    std::string path = setting.substr(kWorkload.size() - 1);
    std::ranges::replace(path, '.', '/');
    const json::json_pointer pointer(path);
    return workload.contains(pointer) ? &workload.at(pointer) : nullptr;
  }

  [[nodiscard]] bool meet(const SwitchNeed& need) const {
    const json* value = find(need.setting);
    return value != nullptr &&
           std::ranges::any_of(need.values, [&](const auto& one) { return *value == one; });
  }

  /// "receive=into_tensors"
  [[nodiscard]] std::string in_words(const std::string& setting) const {
    const json* value = find(setting);
    if (value == nullptr) return "no " + setting;
    return fmt::format("{}={}", setting,
                       value->is_string() ? value->get<std::string>() : value->dump());
  }

  [[nodiscard]] bool is(const char* setting, const char* word) const {
    const json* value = find(setting);
    return value != nullptr && *value == word;
  }
};

/// "receive=concatenate or bytearray or chunk_list"
std::string in_words(const SwitchNeed& need) {
  return fmt::format("{}={}", need.setting, fmt::join(need.values, " or "));
}

/// Where a setting of the variant at `place` is.
std::string place_of(const std::string& setting, const std::string& place) {
  const auto root = place.find("$.");
  if (!setting.starts_with(kWorkload) || root == std::string::npos)
    return place + ".switches." + setting;
  return place.substr(0, root + 2) + setting;
}

[[noreturn]] void refuse(const Settings& settings, const std::string& chosen,
                         const std::string& other, const std::string& needed,
                         const std::string& place) {
  throw Error(ExitCode::usage,
              fmt::format("expected {2}, found {0} with {1}", settings.in_words(chosen),
                          settings.in_words(other), needed),
              place_of(chosen, place), "memduel-worker cannot combine them");
}

/// The value of `name` is at most `less` below that of `bounding`.
struct Bound {
  const char* name;
  const char* bounding;
  std::int64_t less;
};

constexpr Bound kBounds[] = {
    {"piece_bytes", "workload.transport.max_message_bytes", kPieceOverheadBytes},
    {"warn_percent", "critical_percent", 0}};

void refuse_excess(const Bound& bound, const Settings& settings, const json& own,
                   const std::string& place) {
  const json* value = settings.find(bound.name);
  const json* bounding = settings.find(bound.bounding);
  if (value == nullptr || !value->is_number_integer() || bounding == nullptr) return;
  const auto number = value->get<std::int64_t>();
  const std::int64_t most = bounding->get<std::int64_t>() - bound.less;
  if (number <= most) return;
  if (own.contains(bound.bounding) && !own.contains(bound.name))
    refuse(settings, bound.bounding, bound.name,
           fmt::format("{} of at least {}", bound.bounding, number + bound.less), place);
  refuse(settings, bound.name, bound.bounding, fmt::format("{} of at most {}", bound.name, most),
         place);
}

/// Adds the needs of `entry`, a switch or a value, that stand under `key`: each a setting and the
/// values that it may have.
void add_needs(std::vector<SwitchNeed>& needs, const std::string& name, const json& entry,
               const char* key) {
  if (!entry.contains(key)) return;
  for (const json& need : entry.at(key)) {
    std::vector<std::string> words = need;
    std::string setting = std::move(words.front());
    words.erase(words.begin());
    needs.push_back({name, std::move(setting), std::move(words)});
  }
}

/// What the arm's choices need to run at all.
std::vector<SwitchNeed> needs_to_run(const Settings& settings) {
  std::vector<SwitchNeed> needs;
  for (const json& one : fl_switches().at("switches")) {
    const std::string name = one.at("name");
    const json* chosen = settings.find(name);
    if (chosen == nullptr) continue;
    const json& values = one.at("values");
    if (*chosen != values.front().at("value")) add_needs(needs, name, one, "changes_run_with");
    for (const json& value : values)
      if (*chosen == value.at("value")) add_needs(needs, name, value, "runs_with");
  }
  // A swarm's aggregators have no global model of the round before.
  if (settings.is("workload.topology", "swarm")) {
    const char* name = "workload.topology";
    needs.push_back({name, "aggregate", {"collect_all", "in_time"}});
    needs.push_back({name, "workload.send", {"weights"}});
    needs.push_back({name, "workload.on_lost_client", {"fail"}});
  }
  return needs;
}

}  // namespace

std::vector<SwitchNeed> needs_to_matter() {
  std::vector<SwitchNeed> needs;
  for (const json& one : fl_switches().at("switches"))
    add_needs(needs, one.at("name"), one, "matters_with");
  return needs;
}

void refuse_clashing_switches(const json& switches, const json& workload, const json& own,
                              const std::string& place) {
  const Settings settings{switches, workload};
  for (const Bound& bound : kBounds) refuse_excess(bound, settings, own, place);
  for (const SwitchNeed& need : needs_to_run(settings))
    if (!settings.meet(need)) refuse(settings, need.name, need.setting, in_words(need), place);
}

json idle_switches(const json& switches, const json& workload) {
  const Settings settings{switches, workload};
  json idle = json::object();
  for (const SwitchNeed& need : needs_to_matter())
    if (switches.contains(need.name) && !idle.contains(need.name) && !settings.meet(need))
      idle[need.name] = "needs " + in_words(need);
  return idle;
}

}  // namespace memduel
