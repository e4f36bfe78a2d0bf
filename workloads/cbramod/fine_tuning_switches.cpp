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
  SwitchFields fields(values);
  FineTuningSwitches chosen;
  chosen.gradient_checkpointing = choose(fields, "gradient_checkpointing", kActivations);
  chosen.mixed_precision = choose(fields, "mixed_precision", kPrecisions);
  chosen.cleanup_every_epochs = choose_whole_number(fields, "cleanup_every_epochs", 0, kMost);
  chosen.cleanup_between_trials = choose(fields, "cleanup_between_trials", kBetweenTrials);
  chosen.pruned_trial = choose(fields, "pruned_trial", kPrunedTrial);
  chosen.best_state = choose(fields, "best_state", kBestState);
  chosen.memory_threshold_mb = choose_whole_number(fields, "memory_threshold_mb", 0, kMost);
  chosen.memory_baseline = choose(fields, "memory_baseline", kBaselines);
  chosen.on_threshold = choose(fields, "on_threshold", kOnThreshold);
  chosen.checkpoint_retention = choose(fields, "checkpoint_retention", kRetention);
  chosen.max_checkpoints = choose_whole_number(fields, "max_checkpoints", 1, kMost);
  chosen.cleanup_older_than_days = choose_whole_number(fields, "cleanup_older_than_days", 0, kMost);
  fields.expect_no_more();
  return chosen;
}

}  // namespace memduel
