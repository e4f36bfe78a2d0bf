#include "replay_arms.h"

#include <fmt/format.h>

#include <charconv>

#include "catalogue.h"
#include "switch_rules.h"
#include "util/error.h"

namespace memduel {
namespace {

using nlohmann::json;

[[noreturn]] void refuse_variable(const std::string& place, const std::string& name,
                                  const std::string& value, const std::string& expected) {
  throw Error(ExitCode::usage, fmt::format("expected {1}, found \"{0}\"", value, expected),
              fmt::format("{}.env.{}", place, name));
}

json rounds_from(const std::string& place, const std::string& name, const std::string& text) {
  int rounds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rounds);
  if (error != std::errc{} || end != text.data() + text.size() || rounds < 0)
    refuse_variable(place, name, text, "a whole number from 0");
  return rounds;
}

json switch_from(const std::string& place, const std::string& name, const std::string& text) {
  for (const char* yes : {"1", "true", "yes"})
    if (text == yes) return "on";
  for (const char* no : {"0", "false", "no"})
    if (text == no) return "off";
  refuse_variable(place, name, text, "1, true, yes, 0, false or no");
}

struct SwitchVariable {
  const char* variable;
  const char* name;  ///< of the switch
  json (*value)(const std::string& place, const std::string& name, const std::string& text);
};

constexpr SwitchVariable kSwitchVariables[] = {
    {"NVFLARE_CLIENT_MEMORY_GC_ROUNDS", "client_gc_rounds", rounds_from},
    {"NVFLARE_CUDA_EMPTY_CACHE", "cuda_empty_cache", switch_from}};

constexpr const char* kArenaVariable = "MALLOC_ARENA_MAX";
constexpr const char* kJemallocVariable = "NVFLARE_ENABLE_JEMALLOC_PRELOAD";

}  // namespace

json with_environment_switches(json optimizations, const json& env, const std::string& place) {
  for (const auto& [variable, name, read] : kSwitchVariables) {
    const auto found = env.find(variable);
    if (found == env.end()) continue;
    const json value = read(place, variable, found->get<std::string>());
    if (optimizations.value(name, value) != value)
      throw Error(ExitCode::usage,
                  fmt::format("found {} together with {}={}", found->dump(), name,
                              optimizations.at(name).dump()),
                  fmt::format("{}.env.{}", place, variable),
                  "the variable sets this switch: use only one of them");
    optimizations[name] = value;
  }
  return optimizations;
}

void set_environment_allocator(json& arm, const std::string& place) {
  constexpr const char* kJemalloc = "jemalloc";
  const json& env = arm.at("env");
  const auto found = env.find(kJemallocVariable);
  if (found == env.end()) return;
  const bool wanted =
      switch_from(place, kJemallocVariable, found->get<std::string>()) == json("on");
  if (arm.contains("allocator") && wanted != (arm.at("allocator") == kJemalloc))
    throw Error(ExitCode::usage,
                fmt::format("found {} together with allocator {}", found->dump(),
                            arm.at("allocator").dump()),
                fmt::format("{}.env.{}", place, kJemallocVariable),
                "the variable preloads jemalloc: use only one of them");
  if (wanted) arm["allocator"] = kJemalloc;
}

void refuse_reserved_environment(const json& optimizations, const json& env,
                                 const std::string& place) {
  if (!env.contains(kArenaVariable)) return;
  for (const auto& [name, open] : {std::pair{"arenas", "default"}, {"client_arenas", "as_server"}})
    if (optimizations.value(name, json(open)) != open)
      throw Error(ExitCode::usage,
                  fmt::format("found {} together with {}={}", env.at(kArenaVariable).dump(), name,
                              optimizations.at(name).dump()),
                  fmt::format("{}.env.{}", place, kArenaVariable),
                  "the switch limits the arenas: use only one of them");
}

using nlohmann::json;

json resolve_replay_arm(const json& arm, const json& workload, const std::string& place) {
  json resolved = arm;
  const json own = with_environment_switches(arm.at("own"), arm.at("env"), place);
  json switches = arm.at("switches");
  switches.update(own);
  resolved["switches"] =
      resolve_optimizations(fl_catalog(), workload.at("kind"), std::nullopt, switches, place);
  set_environment_allocator(resolved, place);
  refuse_reserved_environment(resolved["switches"], arm.at("env"), place);
  refuse_clashing_switches(resolved["switches"], workload, own, place);
  return resolved;
}

}  // namespace memduel
