#include "workloads/simulation/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "base/error.h"
#include "memduel/annotate.h"
#include "memduel/memory_torch.h"
#include "training/parallel_clients.h"
#include "workloads/federated/model_file.h"
#include "workloads/federated/role_setup.h"
#include "workloads/probes/gauges.h"
#include "workloads/simulation/method_run.h"

namespace memduel {
namespace {

/// What a simulation may still take: of its limit, or of the machine.
std::int64_t available_bytes(const at::Device& device) {
  if (device.is_cuda())
    if (const auto bytes = torch_cuda().bytes()) return bytes->free;
  const MemoryInfo info = memory_info({.pss = false});
  const std::int64_t machine = info.ram_available_bytes.value_or(0);
  if (!info.limit || !info.limit_used_bytes) return machine;
  return std::min(machine, info.limit->bytes - *info.limit_used_bytes);
}

class Simulation {
 public:
  Simulation(const WorkerConfig& config, const at::Device& device)
      : config_(config),
        workload_(config.workload),
        device_(device),
        switches_(make_simulation_switches(config.optimizations)),
        samples_(load_shared_samples(config)),
        policy_(policy_options()) {}

  void run() {
    memduel_idle();
    const int workers = workers_that_fit();
    for (const std::string& method : workload_.simulation.methods)
      for (int repeat = 0; repeat < workload_.simulation.repeats; ++repeat)
        run_method(method, config_.seed + static_cast<std::uint64_t>(repeat), workers);
    policy_.ended(CleanupPoint::end);
    write_model_file(config_.model_file, last_state_);
  }

 private:
  [[nodiscard]] CleanupPolicyOptions policy_options() {
    CleanupPolicyOptions options;
    options.light_every = switches_.light_cleanup_rounds;
    options.heavy_every = switches_.heavy_cleanup_rounds;
    // Its rounds count from 0, and 0 % N is 0: the first round is one of each cadence.
    options.first_round = 1;
    options.light = cleanup_with(HeapCleanup::give_back, CudaCache::kept);
    options.heavy = heavy_cleanup();
    if (switches_.memory_check == MemoryCheck::own_limit) {
      options.pressure = std::make_shared<MemoryPressure>(
          PressureOptions{.warn_percent = static_cast<double>(switches_.warn_percent),
                          .critical_percent = static_cast<double>(switches_.critical_percent)});
      options.emergency = emergency_cleanup();
      options.warned = [](const PressureWarning& warning) { say(to_string(warning)); };
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

  static void say(const std::string& text) { fmt::print(stderr, "memduel-worker: {}\n", text); }

  [[nodiscard]] int workers_that_fit() const {
    const Model model = make_model(workload_.model, config_.seed);
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    return clients_at_once(workload_.simulation.parallel_clients,
                           static_cast<std::int64_t>(state_bytes(model.state)),
                           available_bytes(device_),
                           device_.is_cuda() ? kMostAutomatic : std::min(cores, kMostAutomatic));
  }

  void run_method(const std::string& method, std::uint64_t seed, int workers) {
    const bool cleans_up = switches_.between_methods == BetweenMethods::cleaned_up;
    // After the run's own end, also when that is an exception.
    std::optional<CleanupScope> scope;
    if (cleans_up) scope.emplace(policy_, CleanupPoint::method);
    auto run = std::make_unique<MethodRun>(workload_, switches_, samples_, method, seed, workers);
    current_ = run.get();
    for (int round = 1; round <= workload_.rounds; ++round) play_round(*run);
    current_ = nullptr;
    last_state_ = make_upload_state("clone_detach")->take(run->state());
    if (!cleans_up) kept_.push_back(std::move(run));
  }

  void play_round(MethodRun& run) {
    memduel_round_begin(++round_);
    run.play_round(round_);
    clean_up_after_round();
    report(run);
    memduel_round_end(round_);
  }

  void clean_up_after_round() {
    memduel_phase("cleanup");
    double seconds = 0;
    if (const auto event = policy_.round_ended(round_)) seconds += event->report.seconds;
    if (switches_.memory_check == MemoryCheck::whole_system &&
        (round_ - 1) % switches_.memory_check_rounds == 0)
      seconds += check_whole_system();
    memduel_gauge("cleanup_seconds", seconds);
  }

  /// As psutil's virtual_memory: whatever else runs here counts. Returns the seconds it took.
  double check_whole_system() {
    const auto percent = memory_info({.pss = false}).ram_percent();
    if (!percent || *percent <= switches_.warn_percent) return 0;
    say(fmt::format("round {}: RAM at {:.1f} %", round_, *percent));
    if (*percent <= switches_.critical_percent) return 0;
    return cleanup_memory(emergency_cleanup()).seconds;
  }

  void report(const MethodRun& run) {
    await_device(device_);
    send_memory_gauges();
    const std::int64_t measured = run.trainer().measured_client_bytes();
    if (measured == 0) return;
    memduel_gauge("client_training_bytes", static_cast<double>(measured));
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
  SharedSamples samples_;
  CleanupPolicy policy_;
  std::vector<std::unique_ptr<MethodRun>> kept_;  ///< by original: methods that are over
  MethodRun* current_ = nullptr;
  State last_state_;
  int round_ = 0;
};

}  // namespace

void run_simulator(const WorkerConfig& config) {
  const at::Device device = warm_up(config);
  Simulation(config, device).run();
}

}  // namespace memduel
