#include "switch_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "fl/transport.h"
#include "util/error.h"

namespace memduel {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

constexpr const char* kAggregate = "aggregate";
constexpr const char* kChunking = "model_chunking";
constexpr const char* kCompression = "compression";
constexpr const char* kLostClient = "workload.on_lost_client";
constexpr const char* kSend = "workload.send";
constexpr const char* kDevice = "workload.device";

const Words& whole_messages() {
  static const Words kReceive = {"concatenate", "bytearray", "chunk_list"};
  return kReceive;
}

const Words& averages_of_whole_uploads() {
  static const Words kAverages = {"out_of_place_kept_step", "in_place", "collect_all", "in_time"};
  return kAverages;
}

/// What an arm runs.
struct Settings {
  const json& switches;
  const json& workload;

  /// Null where there is no such setting.
  [[nodiscard]] const json* find(const std::string& setting) const {
    constexpr std::string_view kWorkload = "workload.";
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

[[noreturn]] void refuse(const std::string& chosen, const std::string& found,
                         const std::string& needed, const std::string& place) {
  throw Error(ExitCode::usage, fmt::format("found {} with {}, expected {}", chosen, found, needed),
              place + ".switches", "no worker runs the two together");
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
  const std::string chosen = settings.in_words(bound.name);
  const std::string other = settings.in_words(bound.bounding);
  if (own.contains(bound.bounding) && !own.contains(bound.name))
    refuse(other, chosen, fmt::format("{} of at least {}", bound.bounding, number + bound.less),
           place);
  refuse(chosen, other, fmt::format("{} of at most {}", bound.name, most), place);
}

/// What the arm's choices need to run at all.
std::vector<SwitchNeed> needs_to_run(const Settings& settings) {
  std::vector<SwitchNeed> needs;
  if (settings.switches.contains(kChunking) && !settings.is(kChunking, "off"))
    needs.push_back({kChunking, kLostClient, {"fail"}});
  if (settings.switches.contains(kCompression) && !settings.is(kCompression, "none")) {
    needs.push_back({kCompression, kAggregate, averages_of_whole_uploads()});
    needs.push_back({kCompression, kChunking, {"off"}});
    needs.push_back({kCompression, "receive", whole_messages()});
    needs.push_back({kCompression, "serialize", {"buffered_copies", "scoped_buffer"}});
  }
  if (settings.is("tensor_offload", "disk")) {
    needs.push_back({"tensor_offload", kAggregate, {"collect_all", "in_time"}});
    needs.push_back({"tensor_offload", kCompression, {"none"}});
  }
  if (settings.is("mixed_precision", "fp16"))
    needs.push_back({"mixed_precision", kDevice, {"cuda"}});
  // A swarm's aggregators have no global model of the round before.
  if (settings.is("workload.topology", "swarm")) {
    const char* name = "workload.topology";
    needs.push_back({name, kAggregate, {"collect_all", "in_time"}});
    needs.push_back({name, kSend, {"weights"}});
    needs.push_back({name, kLostClient, {"fail"}});
  }
  return needs;
}

}  // namespace

const std::vector<SwitchNeed>& needs_to_matter() {
  static const Words kWatching = {"whole_system", "own_limit"};
  static const Words kActing = {"warning", "early_stop", "smaller_batches"};
  static const std::vector<SwitchNeed> kNeeds = {
      {"state_snapshot", kSend, {"gradient"}},
      {"pseudo_gradient", kSend, {"gradient"}},
      {"previous_state", "pseudo_gradient", {"out_of_place_kept"}},
      {"previous_state", kSend, {"gradient"}},
      {"deserialize", "receive", whole_messages()},
      {"request_lifetime", kAggregate, averages_of_whole_uploads()},
      {"request_lifetime", "receive", whole_messages()},
      {"staging", kAggregate, {"streaming_fold"}},
      {"local_models", kAggregate, {"out_of_place_kept_step", "in_place", "collect_all"}},
      {"predictions", "workload.kind", {"federated"}},
      {"optimizer_state", "workload.kind", {"federated"}},
      {"flow_control", "workload.transport.kind", {"grpc"}},
      {"cuda_empty_cache", kDevice, {"cuda"}},
      {"memory_check_rounds", "memory_check", {"whole_system"}},
      {"warn_percent", "memory_check", kWatching},
      {"critical_percent", "memory_check", kWatching},
      {"emergency", "memory_check", kWatching},
      {"clear_cache_every_n", kDevice, {"cuda"}},
      {"pruned_trial", "cleanup_between_trials", {"none", "as_implemented"}},
      {"memory_threshold_mb", "on_threshold", kActing},
      {"memory_baseline", "on_threshold", kActing},
      {"max_checkpoints", "checkpoint_retention", {"newest", "best"}},
      {"cleanup_older_than_days", "checkpoint_retention", {"best"}}};
  return kNeeds;
}

void refuse_clashing_switches(const json& switches, const json& workload, const json& own,
                              const std::string& place) {
  const Settings settings{switches, workload};
  for (const Bound& bound : kBounds) refuse_excess(bound, settings, own, place);
  for (const SwitchNeed& need : needs_to_run(settings))
    if (!settings.meet(need))
      refuse(settings.in_words(need.name), settings.in_words(need.setting), in_words(need), place);
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
