#include "fine_tuning_switches.h"

#include "fl/worker_config.h"

namespace memduel {
namespace {

constexpr int kMost = 1000000;

constexpr Choice<LayerActivations> kActivations[] = {{"off", LayerActivations::kept},
                                                     {"per_block", LayerActivations::recomputed}};
constexpr Choice<Precision> kPrecisions[] = {
    {"off", Precision::fp32}, {"bf16", Precision::bf16}, {"fp16", Precision::fp16}};
constexpr Choice<BetweenTrials> kBetweenTrials[] = {
    {"none", BetweenTrials::none},
    {"as_implemented", BetweenTrials::as_implemented},
    {"scope_then_cache_then_trim", BetweenTrials::scope_first}};
constexpr Choice<PrunedTrial> kPrunedTrial[] = {
    {"kept_until_collected", PrunedTrial::kept_until_collected},
    {"cleaned_up", PrunedTrial::cleaned_up}};
constexpr Choice<BestState> kBestState[] = {{"deep_copy_on_device", BestState::new_copy_on_device},
                                            {"cpu", BestState::one_copy_on_cpu}};
constexpr Choice<MemoryBaseline> kBaselines[] = {{"trial", MemoryBaseline::trial},
                                                 {"study", MemoryBaseline::study}};
constexpr Choice<OnThreshold> kOnThreshold[] = {{"nothing", OnThreshold::nothing},
                                                {"warning", OnThreshold::warning},
                                                {"early_stop", OnThreshold::early_stop},
                                                {"smaller_batches", OnThreshold::smaller_batches}};
constexpr Choice<CheckpointRetention> kRetention[] = {{"all", CheckpointRetention::all},
                                                      {"newest", CheckpointRetention::newest},
                                                      {"best", CheckpointRetention::best}};

}  // namespace

FineTuningSwitches make_fine_tuning_switches(const nlohmann::json& values) {
  JsonFields fields(values, "worker configuration", "switches");
  const auto pick = [&](const char* name, const auto& choices) {
    return choose(name, choices, fields.get<std::string>(name));
  };
  const auto number = [&](const char* name, int least) {
    return choose_whole_number(name, fields.get<nlohmann::json>(name), least, kMost);
  };
  FineTuningSwitches chosen;
  chosen.gradient_checkpointing = pick("gradient_checkpointing", kActivations);
  chosen.mixed_precision = pick("mixed_precision", kPrecisions);
  chosen.cleanup_every_epochs = number("cleanup_every_epochs", 0);
  chosen.cleanup_between_trials = pick("cleanup_between_trials", kBetweenTrials);
  chosen.pruned_trial = pick("pruned_trial", kPrunedTrial);
  chosen.best_state = pick("best_state", kBestState);
  chosen.memory_threshold_mb = number("memory_threshold_mb", 0);
  chosen.memory_baseline = pick("memory_baseline", kBaselines);
  chosen.on_threshold = pick("on_threshold", kOnThreshold);
  chosen.checkpoint_retention = pick("checkpoint_retention", kRetention);
  chosen.max_checkpoints = number("max_checkpoints", 1);
  chosen.cleanup_older_than_days = number("cleanup_older_than_days", 0);
  fields.expect_no_more();
  return chosen;
}

}  // namespace memduel
