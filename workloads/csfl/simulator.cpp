// The role of a simulation and its switches.

#include "csfl/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "budget/parallel_clients.h"
#include "csfl/simulation_switches.h"
#include "data/loader_workers.h"
#include "fl/models.h"
#include "fl/probes.h"
#include "fl/roles.h"
#include "fl/state_lifetimes.h"
#include "fl/worker_config.h"
#include "memduel/annotate.h"
#include "memduel/memory.h"
#include "method_run.h"
#include "model/metric_catalogue.h"

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
  SwitchFields fields(values);
  SimulationSwitches chosen;
  chosen.loader_workers = choose_loader_workers(fields.get<nlohmann::json>("loader_workers"));
  chosen.updates = choose(fields, "updates", kUpdates);
  chosen.averaging = choose(fields, "averaging", kAveraging);
  chosen.between_methods = choose(fields, "between_methods", kBetweenMethods);
  chosen.light_cleanup_rounds = choose_whole_number(fields, "light_cleanup_rounds", 0, kMostRounds);
  chosen.heavy_cleanup_rounds = choose_whole_number(fields, "heavy_cleanup_rounds", 0, kMostRounds);
  chosen.heap_cleanup = choose(fields, "heap_cleanup", kFreeHeap);
  chosen.memory_check = choose(fields, "memory_check", kMemoryCheck);
  chosen.memory_check_rounds = choose_whole_number(fields, "memory_check_rounds", 1, kMostRounds);
  chosen.warn_percent = choose_whole_number(fields, "warn_percent", 0, 100);
  chosen.critical_percent =
      choose_whole_number(fields, "critical_percent", chosen.warn_percent, 100);
  chosen.emergency = choose(fields, "emergency", kEmergency);
  chosen.garbage = make_garbage(fields.get<std::string>("cyclic_garbage"));
  chosen.arenas = choose_arenas("arenas", "default", fields.get<nlohmann::json>("arenas"));
  fields.expect_no_more();
  return chosen;
}

namespace {

class Simulation {
 public:
  Simulation(const WorkerConfig& config, const at::Device& device)
      : config_(config),
        workload_(config.workload),
        device_(device),
        switches_(make_simulation_switches(config.optimizations)),
        workers_(workers_that_fit(std::nullopt)),
        samples_(load_shared_samples(config)),
        policy_(policy_options()) {}

  void run() {
    mark_idle();
    if (workload_.simulation.parallel_clients > 1) workers_ = workers_that_fit(measure_client());
    for (const std::string& method : workload_.simulation.methods)
      for (int repeat = 1; repeat <= workload_.simulation.repeats; ++repeat)
        run_method(method, repeat);
    policy_.ended(CleanupPoint::end);
    write_model_file(config_.model_file, last_state_);
  }

 private:
  [[nodiscard]] CleanupPolicyOptions policy_options() {
    CleanupPolicyOptions options;
    options.light_every = switches_.light_cleanup_rounds;
    options.heavy_every = switches_.heavy_cleanup_rounds;
    // Its rounds count from 0, and 0% N is 0: the first round is one of each cadence.
    options.first_round = 1;
    options.light = cleanup_with(HeapCleanup::give_back, CudaCache::kept);
    options.heavy = heavy_cleanup();
    options.cleaned = [this](const CleanupEvent& event) { cleanup_time_.add(event.report); };
    if (switches_.memory_check == MemoryCheck::own_limit) {
      options.pressure = std::make_shared<MemoryPressure>(
          PressureOptions{.warn_percent = static_cast<double>(switches_.warn_percent),
                          .critical_percent = static_cast<double>(switches_.critical_percent)});
      options.emergency = emergency_cleanup();
      options.warned = [](const PressureWarning& warning) {
        warn(warning.reading.level, warning.reading.used_ratio(), to_string(warning));
      };
    }
    return options;
  }

  [[nodiscard]] CleanupOptions cleanup_with(HeapCleanup heap, CudaCache cuda_cache) const {
    CleanupOptions options = collection(*switches_.garbage, cuda_cache);
    options.heap = switches_.heap_cleanup == FreeHeap::given_back ? heap : HeapCleanup::none;
    return options;
  }

  [[nodiscard]] CleanupOptions heavy_cleanup() const {
    return cleanup_with(HeapCleanup::purge, CudaCache::emptied);
  }

  [[nodiscard]] CleanupOptions emergency_cleanup() {
    CleanupOptions options = heavy_cleanup();
    options.drop = [this] {
      switches_.garbage->drop();
      if (current_ && switches_.emergency != Emergency::none) current_->emergency();
    };
    return options;
  }

  /// For the log of the role, and for the results.
  static void warn(MemoryLevel level, std::optional<double> used_ratio, const std::string& text) {
    fmt::print(stderr, "memduel-worker: {}\n", text);
    if (used_ratio)
      memduel_gauge(level == MemoryLevel::critical ? kMemoryCriticalGauge : kMemoryWarningGauge,
                    *used_ratio);
  }

  /// More than train in a round would be replicas for nobody.
  [[nodiscard]] int workers_that_fit(std::optional<std::int64_t> measured) const {
    const Model model = make_model(workload_.model, config_.seed);
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const int in_a_round = workload_.simulation.clients_per_round;
    return clients_at_once(
        std::min(workload_.simulation.parallel_clients, in_a_round),
        {.state = static_cast<std::int64_t>(state_bytes(model.state)),
         .measured = measured,
         .published = published_client_bytes(workload_.model)},
        available_bytes(device_),
        std::min({device_.is_cuda() ? kMostAutomatic : cores, kMostAutomatic, in_a_round}));
  }

  /// Trains one client for nothing: less than what each round takes. Absent without the meter.
  [[nodiscard]] std::optional<std::int64_t> measure_client() const {
    const Model global = move_to(make_model(workload_.model, config_.seed), device_);
    ClientLoader loader(samples_.train, samples_.shares.front(),
                        static_cast<std::size_t>(workload_.batch_size), {});
    ClientTrainer trainer(workload_, global, 1);
    trainer.train(global, {{0, &loader}}, 1);
    const std::int64_t bytes = trainer.measured_client_bytes();
    return bytes > 0 ? std::optional(bytes) : std::nullopt;
  }

  void run_method(const std::string& method, int repeat) {
    const bool cleans_up = switches_.between_methods == BetweenMethods::cleaned_up;
    const bool is_last = repeat == workload_.simulation.repeats;
    // After the run's own end, also when that is an exception.
    std::optional<CleanupScope> scope;
    if (cleans_up) scope.emplace(policy_, is_last ? CleanupPoint::method : CleanupPoint::repeat);
    const std::uint64_t seed = config_.seed + static_cast<std::uint64_t>(repeat - 1);
    auto run = std::make_unique<MethodRun>(workload_, switches_, samples_, method, seed, workers_);
    current_ = run.get();
    for (int round = 1; round <= workload_.rounds; ++round) play_round(*run);
    current_ = nullptr;
    last_state_ = make_upload_state("clone_detach")->take(run->state());
    if (!cleans_up) kept_.push_back(std::move(run));
  }

  void play_round(MethodRun& run) {
    memduel_round_begin(++round_);
    cleanup_time_.begin_round();
    run.play_round(round_);
    clean_up_after_round();
    report(run);
    memduel_round_end(round_);
  }

  void clean_up_after_round() {
    begin_phase(device_, "cleanup");
    policy_.round_ended(round_);
    if (switches_.memory_check == MemoryCheck::whole_system &&
        (round_ - 1) % switches_.memory_check_rounds == 0)
      check_whole_system();
    cleanup_time_.end_round();
  }

  /// As psutil's virtual_memory: whatever else runs here counts.
  void check_whole_system() {
    const auto percent = memory_info({.pss = false}).ram_percent();
    if (!percent || *percent <= switches_.warn_percent) return;
    const bool is_critical = *percent > switches_.critical_percent;
    warn(is_critical ? MemoryLevel::critical : MemoryLevel::warning, *percent / 100,
         fmt::format("round {}: RAM at {:.1f}%", round_, *percent));
    if (is_critical) cleanup_time_.add(cleanup_memory(emergency_cleanup()));
  }

  void report(const MethodRun& run) {
    await_device(device_);
    send_memory_gauges();
    const std::int64_t measured = run.trainer().measured_client_bytes();
    if (measured == 0) return;
    memduel_gauge_better("client_training_bytes", static_cast<double>(measured),
                         MEMDUEL_LOWER_IS_BETTER);
    memduel_gauge("client_formula_bytes",
                  static_cast<double>(
                      formula_client_bytes(static_cast<std::int64_t>(state_bytes(run.state())))));
    if (const auto published = published_client_bytes(workload_.model))
      memduel_gauge("client_published_bytes", static_cast<double>(*published));
  }

  const WorkerConfig& config_;
  const WorkloadConfig& workload_;
  const at::Device device_;
  SimulationSwitches switches_;
  int workers_;
  SharedSamples samples_;
  CleanupTime cleanup_time_;
  CleanupPolicy policy_;
  std::vector<std::unique_ptr<MethodRun>> kept_;  ///< by original: methods that are over
  MethodRun* current_ = nullptr;
  State last_state_;
  int round_ = 0;
};

}  // namespace

void run_simulator(const WorkerConfig& config) {
  const at::Device device = warm_up(config, config.workload.device);
  Simulation(config, device).run();
}

}  // namespace memduel
