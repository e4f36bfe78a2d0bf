#include "workloads/simulation/switches.h"

#include "workloads/datasets/loader_workers.h"
#include "workloads/federated/json_fields.h"
#include "workloads/optimizations/arenas.h"
#include "workloads/optimizations/choice.h"
#include "workloads/optimizations/whole_number.h"

namespace memduel {
namespace {

constexpr Choice<Updates> kUpdates[] = {{"kept_until_next_round", Updates::kept_until_next_round},
                                        {"released", Updates::released}};
constexpr Choice<Averaging> kAveraging[] = {
    {"new_tensor_each_step", Averaging::new_tensor_each_step}, {"in_place", Averaging::in_place}};
constexpr Choice<BetweenMethods> kBetweenMethods[] = {{"kept", BetweenMethods::kept},
                                                      {"cleaned_up", BetweenMethods::cleaned_up}};
constexpr Choice<FreeHeap> kFreeHeap[] = {{"left_alone", FreeHeap::left_alone},
                                          {"given_back", FreeHeap::given_back}};
constexpr Choice<MemoryCheck> kMemoryCheck[] = {{"none", MemoryCheck::none},
                                                {"whole_system", MemoryCheck::whole_system},
                                                {"own_limit", MemoryCheck::own_limit}};
constexpr Choice<Emergency> kEmergency[] = {{"none", Emergency::none},
                                            {"smaller_batches", Emergency::smaller_batches},
                                            {"same_batches", Emergency::same_batches}};

constexpr Choice<LoaderChoice> kLoaderProcesses[] = {{"4_processes", {4, true}},
                                                     {"2_processes", {2, true}}};

LoaderChoice choose_loader_workers(const nlohmann::json& value) {
  constexpr const char* kName = "loader_workers";
  if (value.is_string()) return choose(kName, kLoaderProcesses, value.get<std::string>());
  return {choose_whole_number(kName, value, 0, kMostWorkers), false};
}

}  // namespace

SimulationSwitches make_simulation_switches(const nlohmann::json& values) {
  JsonFields fields(values, "worker configuration", "optimizations");
  const auto word = [&](const char* name) { return fields.get<std::string>(name); };
  const auto number = [&](const char* name, int least, int most) {
    return choose_whole_number(name, fields.get<nlohmann::json>(name), least, most);
  };
  SimulationSwitches chosen;
  chosen.loader_workers = choose_loader_workers(fields.get<nlohmann::json>("loader_workers"));
  chosen.updates = choose("updates", kUpdates, word("updates"));
  chosen.averaging = choose("averaging", kAveraging, word("averaging"));
  chosen.between_methods = choose("between_methods", kBetweenMethods, word("between_methods"));
  chosen.light_cleanup_rounds = number("light_cleanup_rounds", 0, kMostRounds);
  chosen.heavy_cleanup_rounds = number("heavy_cleanup_rounds", 0, kMostRounds);
  chosen.heap_cleanup = choose("heap_cleanup", kFreeHeap, word("heap_cleanup"));
  chosen.memory_check = choose("memory_check", kMemoryCheck, word("memory_check"));
  chosen.memory_check_rounds = number("memory_check_rounds", 1, kMostRounds);
  chosen.warn_percent = number("warn_percent", 0, 100);
  chosen.critical_percent = number("critical_percent", chosen.warn_percent, 100);
  chosen.emergency = choose("emergency", kEmergency, word("emergency"));
  chosen.garbage = make_garbage(word("cyclic_garbage"));
  chosen.arenas = choose_arenas("arenas", "default", fields.get<nlohmann::json>("arenas"));
  fields.expect_no_more();
  return chosen;
}

}  // namespace memduel
