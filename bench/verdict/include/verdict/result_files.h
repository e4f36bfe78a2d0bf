// Results in files: results.json, whose fields are described here, each once (`experiment` and
// `schema` are results_json.cpp's), Google Benchmark's JSON, read as a run whose roles are
// benchmarks and whose trials are repetitions, and two runs measured at different times as one.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "model/job_facts.h"
#include "model/run_data.h"
#include "model/run_directory.h"
#include "util/reflection.h"
#include "verdict/results.h"

namespace memduel {

template <>
inline constexpr auto kDescription<Note> =
    described("Note", always("code", &Note::code), always("message", &Note::message),
              later("advice", &Note::advice));

template <>
inline constexpr auto kDescription<PhaseData> = described(
    "PhaseResult", always("phase", &PhaseData::phase), later("begin_ns", &PhaseData::begin_ns),
    later("end_ns", &PhaseData::end_ns), later("metrics", &PhaseData::metrics));

template <>
inline constexpr auto kDescription<RoundData> =
    described("RoundResult", always("round", &RoundData::round),
              later("begin_ns", &RoundData::begin_ns), later("end_ns", &RoundData::end_ns),
              later("metrics", &RoundData::metrics), later("phases", &RoundData::phases),
              if_set("peak_rss_is_sampled", &RoundData::peak_rss_is_sampled));

template <>
inline constexpr auto kDescription<OutsideRounds> =
    described("OutsideRounds", always("part", &OutsideRounds::part),
              later("begin_ns", &OutsideRounds::begin_ns), later("end_ns", &OutsideRounds::end_ns),
              always("peak_rss_bytes", &OutsideRounds::peak_rss_bytes),
              if_set("peak_rss_is_sampled", &OutsideRounds::peak_rss_is_sampled));

template <>
inline constexpr auto kDescription<RoleData> =
    described("RoleResult", always("role", &RoleData::role), later("metrics", &RoleData::metrics),
              later("rounds", &RoleData::rounds), if_set("exit_status", &RoleData::exit_status),
              if_set("exit_signal", &RoleData::exit_signal),
              if_set("outside_rounds", &RoleData::outside_rounds),
              if_set("peak_rss_is_sampled", &RoleData::peak_rss_is_sampled));

template <>
inline constexpr auto kDescription<TrialData> = described(
    "Trial", always("id", &TrialData::id), always("block", &TrialData::block),
    later("position", &TrialData::position), always("variant", &TrialData::arm),
    always("kind", &TrialData::kind), always("status", &TrialData::status),
    later("begin_ns", &TrialData::begin_ns), later("end_ns", &TrialData::end_ns),
    later("harness_cpu_seconds", &TrialData::harness_cpu_seconds),
    later("roles", &TrialData::roles), if_set("failure", &TrialData::failure),
    if_set("harness_fault", &TrialData::harness_fault),
    if_set("model_sha256", &TrialData::model_sha256), if_set("profiler", &TrialData::tracer),
    if_set("files", &TrialData::files), if_set("allocators", &TrialData::allocators));

template <>
inline constexpr auto kDescription<ArmSummary> = described(
    "VariantSummary", always("name", &ArmSummary::name),
    later("switches", &ArmSummary::optimizations),
    always("model_sha256", &ArmSummary::model_sha256), later("trials_ok", &ArmSummary::trials_ok),
    later("trials_failed", &ArmSummary::trials_failed), later("ablation", &ArmSummary::ablation),
    always("allocator", &ArmSummary::allocator),
    later("allocator_libraries", &ArmSummary::allocator_libraries));

template <>
inline constexpr auto kDescription<RemovedPlace> = described(
    "RemovedPlace", always("effect", &RemovedPlace::effect),
    always("p_value", &RemovedPlace::p_value), always("estimate", &RemovedPlace::estimate),
    always("everywhere", &RemovedPlace::everywhere));

template <>
inline constexpr auto kDescription<Comparison> = described(
    "Comparison", always("baseline", &Comparison::baseline),
    always("candidate", &Comparison::candidate), always("role", &Comparison::role),
    always("metric", &Comparison::metric), always("gate", &Comparison::gate),
    later("advisory_gate", &Comparison::advisory_gate),
    always("baseline_median", &Comparison::baseline_median),
    always("candidate_median", &Comparison::candidate_median),
    always("baseline_max", &Comparison::baseline_max),
    always("candidate_max", &Comparison::candidate_max), always("ratio", &Comparison::ratio),
    always("difference", &Comparison::difference), always("ci_low", &Comparison::ci_low),
    always("ci_high", &Comparison::ci_high), later("confidence", &Comparison::confidence),
    always("p_value", &Comparison::p_value), always("p_adjusted", &Comparison::p_adjusted),
    later("correction", &Comparison::correction), always("p_mean", &Comparison::p_mean),
    later("test", &Comparison::test), if_set("reference_orders", &Comparison::reference_orders),
    if_set("removed_place", &Comparison::removed_place), later("apart", &Comparison::apart),
    later("identical", &Comparison::exact), always("n_baseline", &Comparison::n_baseline),
    always("n_candidate", &Comparison::n_candidate), always("verdict", &Comparison::verdict),
    always("tier", &Comparison::tier), always("reason", &Comparison::reason),
    always("margin", &Comparison::margin), always("blocks_needed", &Comparison::blocks_needed),
    always("minimum_detectable", &Comparison::minimum_detectable));

template <>
inline constexpr auto kDescription<Projection> =
    described("Projection", always("limit_bytes", &Projection::limit_bytes),
              always("round", &Projection::round), always("ci_low", &Projection::ci_low),
              always("ci_high", &Projection::ci_high), always("minute", &Projection::minute));

template <>
inline constexpr auto kDescription<GrowingStack> = described(
    "GrowingStack", always("stack", &GrowingStack::stack),
    text_or_null("phase", &GrowingStack::phase),
    always("bytes_per_round", &GrowingStack::bytes_per_round),
    always("last_bytes", &GrowingStack::last_bytes), if_set("location", &GrowingStack::location));

template <>
inline constexpr auto kDescription<TrialSlope> = described(
    "TrialSlope", always("block", &TrialSlope::block), always("slope", &TrialSlope::slope));

template <>
inline constexpr auto kDescription<Growth> = described(
    "Growth", always("variant", &Growth::arm), always("role", &Growth::role),
    always("metric", &Growth::metric), always("slope", &Growth::slope),
    always("ci_low", &Growth::ci_low), always("ci_high", &Growth::ci_high),
    later("confidence", &Growth::confidence), later("method", &Growth::method),
    later("resolution", &Growth::resolution), later("trial_slopes", &Growth::trial_slopes),
    always("verdict", &Growth::verdict), later("reason", &Growth::reason),
    if_set("of_files", &Growth::of_files), always("projection", &Growth::projection),
    always("model_multiples_per_round", &Growth::model_multiples_per_round),
    always("level", &Growth::level), always("rounds_needed", &Growth::rounds_needed),
    later("stacks", &Growth::stacks));

template <>
inline constexpr auto kDescription<GateEvidence> = described(
    "GateEvidence", always("quantity", &GateEvidence::quantity),
    later("method", &GateEvidence::method), always("limit", &GateEvidence::limit),
    always("estimate", &GateEvidence::estimate), always("ci_low", &GateEvidence::ci_low),
    always("ci_high", &GateEvidence::ci_high), always("confidence", &GateEvidence::confidence),
    always("p_adjusted", &GateEvidence::p_adjusted), later("n_baseline", &GateEvidence::n_baseline),
    later("n_candidate", &GateEvidence::n_candidate));

template <>
inline constexpr auto kDescription<GateResult> =
    described("GateResult", always("gate", &GateResult::gate), later("role", &GateResult::role),
              later("metric", &GateResult::metric), if_set("baseline", &GateResult::baseline),
              always("candidate", &GateResult::candidate), always("outcome", &GateResult::outcome),
              later("advisory", &GateResult::advisory), always("reason", &GateResult::reason),
              if_set("failure", &GateResult::failure),
              if_set("candidate_failed", &GateResult::candidate_failed),
              if_set("not_measured", &GateResult::not_measured),
              if_set("beyond_bound", &GateResult::beyond_bound),
              later("evidence", &GateResult::evidence), later("exit_code", &GateResult::exit_code));

template <>
inline constexpr auto kDescription<Overall> = described(
    "Overall", always("outcome", &Overall::outcome), always("exit_code", &Overall::exit_code),
    always("best", &Overall::best), if_set("nothing", &Overall::nothing));

template <>
inline constexpr auto kDescription<LineDifference> = described(
    "LineDifference", always("line", &LineDifference::line),
    always("baseline", &LineDifference::baseline), always("candidate", &LineDifference::candidate));

template <>
inline constexpr auto kDescription<Variation> =
    described("Variation", always("lines", &Variation::lines),
              always("varying_lines", &Variation::varying_lines),
              always("first_varying", &Variation::first_varying),
              always("differing_lines", &Variation::differing_lines));

template <>
inline constexpr auto kDescription<FileEquivalence> =
    described("FileEquivalence", always("file", &FileEquivalence::file),
              always("blocks", &FileEquivalence::blocks),
              always("identical_blocks", &FileEquivalence::identical_blocks),
              always("max_difference", &FileEquivalence::max_difference),
              always("max_within_baseline", &FileEquivalence::max_within_baseline),
              if_set("first_difference", &FileEquivalence::first_difference),
              if_set("variation", &FileEquivalence::variation));

template <>
inline constexpr auto kDescription<Equivalence> =
    described("Equivalence", always("baseline", &Equivalence::baseline),
              always("candidate", &Equivalence::candidate),
              always("bit_identical", &Equivalence::bit_identical),
              always("max_abs_diff", &Equivalence::max_abs_diff),
              later("metrics", &Equivalence::metrics), later("files", &Equivalence::files));

template <>
inline constexpr auto kDescription<LowerBound> =
    described("LowerBound", always("role", &LowerBound::role),
              always("metric", &LowerBound::metric), always("bytes", &LowerBound::bytes),
              later("formula", &LowerBound::formula), always("multiples", &LowerBound::multiples));

template <>
inline constexpr auto kDescription<Perturbation> = described(
    "Perturbation", always("variant", &Perturbation::arm),
    always("profiler", &Perturbation::tracer), always("wall_ratio", &Perturbation::wall_ratio),
    always("peak_rss_ratio", &Perturbation::peak_rss_ratio));

template <>
inline constexpr auto kDescription<AblationCell> =
    described("AblationCell", always("variant", &AblationCell::arm),
              later("idle", &AblationCell::idle), later("reference", &AblationCell::reference),
              always("reference_median", &AblationCell::reference_median),
              always("median", &AblationCell::median), always("ratio", &AblationCell::ratio),
              always("difference", &AblationCell::difference),
              always("ci_low", &AblationCell::ci_low), always("ci_high", &AblationCell::ci_high),
              always("p_adjusted", &AblationCell::p_adjusted), later("n", &AblationCell::n),
              always("verdict", &AblationCell::verdict), later("reason", &AblationCell::reason));

template <>
inline constexpr auto kDescription<AblationRow> = described(
    "AblationRow", always("switch", &AblationRow::optimization), always("role", &AblationRow::role),
    always("metric", &AblationRow::metric), always("phase", &AblationRow::phase),
    always("added_alone", &AblationRow::added_alone),
    always("removed_alone", &AblationRow::left_out), always("effect", &AblationRow::effect));

template <>
inline constexpr auto kDescription<AblationSum> = described(
    "AblationSum", always("sum", &AblationSum::sum), always("remainder", &AblationSum::remainder),
    always("ci_low", &AblationSum::ci_low), always("ci_high", &AblationSum::ci_high),
    later("n", &AblationSum::n), later("missing", &AblationSum::missing));

template <>
inline constexpr auto kDescription<AblationTotal> = described(
    "AblationTotal", always("role", &AblationTotal::role), always("metric", &AblationTotal::metric),
    always("phase", &AblationTotal::phase), always("whole", &AblationTotal::whole),
    always("added_alone", &AblationTotal::added_alone),
    always("removed_alone", &AblationTotal::left_out));

template <>
inline constexpr auto kDescription<Difference> = described(
    "Difference", always("candidate", &Difference::candidate), always("role", &Difference::role),
    always("kind", &Difference::kind), later("heap", &Difference::heap),
    always("stack", &Difference::stack), always("bytes", &Difference::bytes),
    always("share", &Difference::share), always("phase", &Difference::phase),
    later("allocations", &Difference::blocks), later("baseline_bytes", &Difference::baseline_bytes),
    later("candidate_bytes", &Difference::candidate_bytes),
    always("half_width_bytes", &Difference::half_width_bytes),
    if_set("location", &Difference::location));

template <>
inline constexpr auto kDescription<DifferenceTotal> =
    described("DifferenceTotal", always("candidate", &DifferenceTotal::candidate),
              always("role", &DifferenceTotal::role), always("kind", &DifferenceTotal::kind),
              later("heap", &DifferenceTotal::heap),
              always("baseline_bytes", &DifferenceTotal::baseline_bytes),
              always("candidate_bytes", &DifferenceTotal::candidate_bytes),
              always("unmatched_share", &DifferenceTotal::unmatched_share),
              later("guessed_share", &DifferenceTotal::guessed_share),
              later("stacks", &DifferenceTotal::stacks));

template <>
inline constexpr auto kDescription<ResidentOwner> =
    described("ResidentOwner", always("owner", &ResidentOwner::owner),
              always("name", &ResidentOwner::name), always("bytes", &ResidentOwner::bytes));

template <>
inline constexpr auto kDescription<ResidentMemory> =
    described("ResidentMemory", always("variant", &ResidentMemory::arm),
              always("role", &ResidentMemory::role), always("bytes", &ResidentMemory::bytes),
              later("processes", &ResidentMemory::processes),
              later("counted_again_bytes", &ResidentMemory::counted_again_bytes),
              later("page_cache_bytes", &ResidentMemory::page_cache_bytes),
              always("owners", &ResidentMemory::owners),
              always("recorder_bytes", &ResidentMemory::recorder_bytes),
              always("untouched_bytes", &ResidentMemory::untouched_bytes),
              always("swapped_bytes", &ResidentMemory::swapped_bytes),
              always("round", &ResidentMemory::round), always("phase", &ResidentMemory::phase),
              always("seconds", &ResidentMemory::seconds));

template <>
inline constexpr auto kDescription<ShownCause> =
    described("ShownCause", always("name", &ShownCause::name),
              always("memory", &ShownCause::memory), always("function", &ShownCause::function),
              always("caller", &ShownCause::caller), always("size", &ShownCause::size),
              if_set("location", &ShownCause::location), later("share", &ShownCause::share));

template <>
inline constexpr auto kDescription<ShownRow> = described(
    "ShownRow", always("candidate", &ShownRow::candidate), always("role", &ShownRow::role),
    always("metric", &ShownRow::metric), always("why", &ShownRow::why),
    always("change", &ShownRow::change), always("causes", &ShownRow::causes));

template <>
inline constexpr auto kDescription<NextStep> = described(
    "NextStep", always("sentence", &NextStep::sentence), always("command", &NextStep::command));

template <>
inline constexpr auto kDescription<FirstScreen> =
    described("FirstScreen", always("rows", &FirstScreen::rows),
              always("next_step", &FirstScreen::next_step));

template <>
inline constexpr auto kDescription<Results> = described(
    "ResultLists", later("warmup_rounds", &Results::warmup_rounds), later("job", &Results::job),
    always("environment", &Results::environment), later("order", &Results::order),
    later("limitations", &Results::limitations), later("warnings", &Results::warnings),
    later("variants", &Results::arms), later("trials", &Results::trials),
    later("comparisons", &Results::comparisons), later("growth", &Results::growth),
    later("gates", &Results::gates), later("overall", &Results::overall),
    later("equivalence", &Results::equivalence), later("lower_bounds", &Results::lower_bounds),
    later("perturbation", &Results::perturbation), later("ablation", &Results::ablation),
    later("ablation_totals", &Results::ablation_totals),
    later("differences", &Results::differences),
    later("difference_totals", &Results::difference_totals), later("resident", &Results::resident),
    later("first_screen", &Results::first_screen));

// results.json, schema "memduel.results/2": written and read here and nowhere else. Numbers that
// are absent are written as null where the schema always shows the field, and left out elsewhere.

/// Whole. Of a long run it takes ten times the memory of its rounds: write_results does not.
nlohmann::json results_to_json(const Results& results);

/// Takes a text piece by piece.
using TextSink = std::function<void(std::string_view)>;

/// Writes the document as nlohmann's dump(indent) would, `document` with results_without_rounds in
/// it somewhere, a round at a time. Bytes that are not UTF-8 become U+FFFD.
class ResultsWriter {
 public:
  explicit ResultsWriter(const Results& results);

  /// The results with a mark in the place of every list of rounds.
  [[nodiscard]] nlohmann::json results_without_rounds() const;

  void write(const nlohmann::json& document, int indent, const TextSink& sink) const;

 private:
  const Results& results_;
  std::string mark_;  ///< what no text of the results holds
};

/// results.json, as ResultsWriter gives it.
void write_results(const Results& results, int indent, const TextSink& sink);

/// Reads schema 2, and schema 1 through renamed_since_1.h. Throws Error(io) that names the JSON
/// path, what was found and what was expected; another schema is one of those errors. `where` names
/// the file in it. Unknown fields are ignored, so that sections added by later versions do no harm.
Results results_from_json(const nlohmann::json& json, const std::string& where = kResultsFile);

/// Whether the document looks like Google Benchmark's output.
bool is_google_benchmark(const nlohmann::json& document);

/// Times in seconds (real_time_seconds, cpu_time_seconds) and the MemoryManager's numbers
/// (peak_heap_bytes from max_bytes_used, allocated_bytes from total_allocated_bytes,
/// allocation_count from allocs_per_iter, net_heap_growth_bytes), all in one arm, "benchmarks";
/// merge_runs() makes a comparison of two. Aggregates are left out. Limitations say when there are
/// too few repetitions, where compare.py's U test accepts two, that repetitions share a process,
/// and that only the last repetition's bytes were possible (versions before 1.8). Throws Error(io)
/// that names the place for anything else than that format.
RunData run_from_google_benchmark(const nlohmann::json& document, const std::string& where);

/// The benchmarks of one process, with the metrics above: times are medians over repetitions, bytes
/// and counts those of the last repetition. Throws as above.
std::vector<RoleData> benchmarks_of_process(const nlohmann::json& document,
                                            const std::string& where);

/// Code of the warning that two merged runs come from different environments; analyse() then gives
/// no verdict.
inline constexpr const char* kOtherEnvironment = "other_environment";

/// Of one of the two runs.
struct MergedSide {
  std::string name;  ///< its arm's in the merged run
  /// Where it was read; empty: from nowhere.
  std::string place = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// A run whose two arms are the arm called `arm` (empty: the baseline) of each run. Which one that
/// is, and how the two are compared again, stands in the environment. Its trials were not
/// interleaved, and a warning says so; another environment is a second warning. Where one run has
/// rounds and the other is one round as a whole, what is measured by the round is left out.
/// Analyse it with Design::unpaired.
/// Throws Error(usage) when the workloads differ or a run has no such arm.
RunData merge_runs(const RunData& a, const RunData& b, const std::string& arm,
                   const MergedSide& of_a = {"a"}, const MergedSide& of_b = {"b"});

/// What results.json keeps of a run: everything but series and config.
RunData run_from_results(const Results& results);

}  // namespace memduel
