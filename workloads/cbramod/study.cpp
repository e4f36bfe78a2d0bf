// The role of a fine-tuning workload, and the checkpoints that it saves.

#include "cbramod/study.h"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <limits>
#include <memory>
#include <vector>

#include "cbramod/prune.h"
#include "checkpoint_name.h"
#include "fine_tuning.h"
#include "fine_tuning_switches.h"
#include "fl/models.h"
#include "fl/probes.h"
#include "fl/roles.h"
#include "memduel/annotate.h"
#include "memduel/memory.h"
#include "memduel/memory_torch.h"
#include "model/metric_catalogue.h"
#include "util/text.h"

namespace memduel {

RetentionRules retention_rules(const FineTuningSwitches& switches);

/// Saves the state as epoch{E}_acc_{}_f1_{}_kappa_{}.pth and removes what the rules do not keep.
/// Files that should go and did not are named on standard error. Throws Error(io).
void save_best(const std::filesystem::path& directory, const State& state, int epoch,
               const Scores& scores, const FineTuningSwitches& switches);

RetentionRules retention_rules(const FineTuningSwitches& switches) {
  RetentionRules rules;
  rules.keep_best = switches.checkpoint_retention == CheckpointRetention::all
                        ? std::numeric_limits<std::size_t>::max()
                        : static_cast<std::size_t>(switches.max_checkpoints);
  rules.older_than_days = switches.cleanup_older_than_days;
  if (switches.checkpoint_retention == CheckpointRetention::newest) rules.ranking = Ranking::by_age;
  return rules;
}

void save_best(const std::filesystem::path& directory, const State& state, int epoch,
               const Scores& scores, const FineTuningSwitches& switches) {
  const std::string name = make_checkpoint_name(
      {epoch, {{"acc", scores.accuracy}, {"f1", scores.f1}, {"kappa", scores.kappa}}});
  const SharedBytes bytes = encode_state(state);
  const Pruned pruned = save_checkpoint(directory, name, bytes->view(), retention_rules(switches));
  for (const std::string& failure : pruned.failures)
    fmt::print(stderr, "memduel-worker: {}\n", failure);
}

namespace {

constexpr double kPrunedKappa = 0.05;

class LearnedNothing : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "kappa is 0.05 or less"; }
};

class Study {
 public:
  Study(const WorkerConfig& config, const at::Device& device)
      : config_(config),
        device_(device),
        switches_(make_fine_tuning_switches(config.optimizations)),
        data_(config.trial_dir / "epochs.bin", config.workload, config.data_dir),
        watch_(switches_, resident_bytes),
        policy_({.heavy = cleanup(HeapCleanup::purge), .cleaned = [this](const auto& event) {
                   cleanup_seconds_ += event.report.seconds;
                 }}) {
    expect_precision(switches_.mixed_precision, device);
  }

  void run() {
    mark_idle();
    for (int number = 1; number <= config_.workload.fine_tuning.trials; ++number) play(number);
  }

 private:
  static CleanupOptions cleanup(HeapCleanup heap) {
    return {.heap = heap, .device = &torch_cuda(), .empty_device_cache = true};
  }

  void play(int number) {
    memduel_round_begin(number);
    memduel_phase("load");
    cleanup_seconds_ = 0;
    result_ = {};
    watch_.trial_begins();
    bool pruned = false;
    try {
      if (switches_.cleanup_between_trials == BetweenTrials::scope_first)
        play_in_scope(number);
      else
        play_under_a_name(number);
    } catch (const LearnedNothing&) {
      pruned = true;
    }
    warn(number);
    report(pruned);
    memduel_round_end(number);
  }

  /// C++ lets go of all that a fine-tuning has before the cleanup, also when it is pruned.
  void play_in_scope(int number) {
    const CleanupScope cleaned(policy_, CleanupPoint::trial);
    const std::unique_ptr<FineTuning> one = make(number);
    finish(*one, number);
  }

  /// As the tuner's variables have them: the fine-tuning before lives until this one is built.
  void play_under_a_name(int number) {
    current_ = make(number);
    try {
      finish(*current_, number);
    } catch (const LearnedNothing&) {
      if (switches_.pruned_trial == PrunedTrial::kept_until_collected)
        garbage_.push_back(std::move(current_));
      else
        clean_up_as_implemented();
      throw;
    }
    clean_up_as_implemented();
  }

  [[nodiscard]] std::unique_ptr<FineTuning> make(int number) const {
    return std::make_unique<FineTuning>(config_.workload, switches_, data_, watch_, number,
                                        config_.seed + static_cast<std::uint64_t>(number));
  }

  void finish(FineTuning& one, int number) {
    one.train([this] { clean_up_between_epochs(); });
    result_ = one.result();
    await_device(device_);
    memduel_phase("checkpoint");
    if (number == config_.workload.fine_tuning.trials)
      write_model_file(config_.model_file, one.state());
    if (result_.scores.kappa > kPrunedKappa)
      save_best(config_.trial_dir / "checkpoints", one.state(), result_.best_epoch, result_.scores,
                switches_);
    memduel_phase("cleanup");
    if (result_.scores.kappa <= kPrunedKappa) throw LearnedNothing();
  }

  /// What gives heap back is the last step of scope_first alone.
  void clean_up_between_epochs() {
    memduel_phase("cleanup");
    const bool trims = switches_.cleanup_between_trials == BetweenTrials::scope_first;
    empty_cache_then_collect(trims ? HeapCleanup::give_back : HeapCleanup::none);
  }

  void clean_up_as_implemented() {
    if (switches_.cleanup_between_trials == BetweenTrials::as_implemented)
      empty_cache_then_collect(HeapCleanup::none);
  }

  /// In the code's order: what the collection frees stays in the cache.
  void empty_cache_then_collect(HeapCleanup heap) {
    cleanup_seconds_ += cleanup_memory(cleanup(heap)).seconds;
    garbage_.clear();
  }

  void warn(int number) const {
    if (switches_.on_threshold == OnThreshold::nothing || !watch_.is_above()) return;
    fmt::print(stderr, "memduel-worker: trial {}: {} above the baseline, more than {}\n", number,
               format_bytes(static_cast<double>(watch_.growth().value_or(0))),
               format_bytes(static_cast<double>(watch_.threshold())));
  }

  void report(bool pruned) const {
    await_device(device_);
    send_memory_gauges();
    send_part_gauges(result_.parts);
    memduel_gauge(kCleanupSeconds, cleanup_seconds_);
    memduel_gauge(kValidationAccuracy, result_.scores.accuracy);
    memduel_gauge_better("validation_kappa_ratio", result_.scores.kappa, MEMDUEL_HIGHER_IS_BETTER);
    memduel_gauge("epochs_count", result_.epochs);
    memduel_gauge("samples_at_once_count", static_cast<double>(result_.samples_at_once));
    memduel_gauge("stopped_count", result_.stopped ? 1 : 0);
    memduel_gauge("pruned_count", pruned ? 1 : 0);
  }

  const WorkerConfig& config_;
  const at::Device device_;
  FineTuningSwitches switches_;
  EpochFile data_;
  MemoryWatch watch_;
  CleanupPolicy policy_;
  std::unique_ptr<FineTuning> current_;
  std::vector<std::unique_ptr<FineTuning>> garbage_;  ///< held by a cycle of exception and frame
  FineTuningResult result_;
  double cleanup_seconds_ = 0;
};

}  // namespace

void run_study(const WorkerConfig& config) {
  const at::Device device = warm_up(config, config.workload.device);
  Study(config, device).run();
}

}  // namespace memduel
