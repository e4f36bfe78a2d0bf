// The report's model as JSON, which the page reads: the fields of its types and how it is written.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "reports/report_model.h"
#include "util/reflection.h"
#include "verdict/result_files.h"

namespace memduel {

/// Maxima as successive differences and the depth below them: mostly zeros, so they compress well.
struct PackedEnvelope {
  int first = 0;
  std::vector<std::int64_t> high;   ///< the first is the value itself
  std::vector<std::int64_t> depth;  ///< bucket maximum minus bucket minimum
};

/// A pair of profiles with the `id` of the element that holds its data, or `why` there is none.
struct FlameRow {
  std::string id;
  std::string tracer;
  std::string role;
  std::vector<std::string> arms;
  std::vector<std::string> files;
  std::string why;
};

/// What results.json does not say about a trial.
struct TrialNote {
  std::int64_t trial = 0;
  double seconds = 0;
  std::string failure;
};

/// What stands in the report beside the model's own fields.
struct ReportExtras {
  std::vector<ListedProfile> profiles;
  std::vector<std::string> profile_commands;
  std::vector<std::string> profile_sentences;
  std::vector<FlameRow> flames;
  std::vector<TrialNote> trial_notes;
  std::string part_peaks_remark;
};

PackedEnvelope as_written(const Envelope& envelope);
inline const std::vector<SentencePart>& as_written(const Sentence& sentence) {
  return sentence.parts();
}

template <>
inline constexpr auto kDescription<SentencePart> = described(
    "SentencePart", always("text", &SentencePart::text), always("mark", &SentencePart::mark));

template <>
inline constexpr auto kDescription<Headline> =
    described("Headline", always("sentence", &Headline::sentence), always("role", &Headline::role),
              always("metric", &Headline::metric), always("candidate", &Headline::candidate),
              always("verdict", &Headline::verdict), always("tier", &Headline::tier),
              always("more", &Headline::more), always("outcome", &Headline::outcome),
              always("gate", &Headline::gate), always("fails", &Headline::fails),
              always("reason", &Headline::reason), always("why", &Headline::why));

template <>
inline constexpr auto kDescription<SideEffect> =
    described("SideEffect", always("topic", &SideEffect::topic),
              always("sentence", &SideEffect::sentence), always("verdict", &SideEffect::verdict));

template <>
inline constexpr auto kDescription<MemoryPart> = described(
    "MemoryPart", always("name", &MemoryPart::name), always("profiled", &MemoryPart::profiled),
    always("baseline_bytes", &MemoryPart::baseline_bytes),
    always("candidate_bytes", &MemoryPart::candidate_bytes));

template <>
inline constexpr auto kDescription<MemoryBalance> = described(
    "MemoryBalance", always("role", &MemoryBalance::role),
    always("candidate", &MemoryBalance::candidate), always("metric", &MemoryBalance::metric),
    always("total", &MemoryBalance::total), always("parts", &MemoryBalance::parts),
    always("rest_bytes", &MemoryBalance::rest_bytes), always("rest", &MemoryBalance::rest),
    always("at_marks", &MemoryBalance::at_marks));

template <>
inline constexpr auto kDescription<PartPeak> =
    described("PartPeak", always("name", &PartPeak::name), always("bytes", &PartPeak::bytes));

template <>
inline constexpr auto kDescription<PartPeaks> =
    described("PartPeaks", always("role", &PartPeaks::role), always("variants", &PartPeaks::arms),
              always("parts", &PartPeaks::parts));

template <>
inline constexpr auto kDescription<DifferenceRow> = described(
    "DifferenceRow", always("amount", &DifferenceRow::amount), always("size", &DifferenceRow::size),
    always("share", &DifferenceRow::share), always("function", &DifferenceRow::function),
    always("caller", &DifferenceRow::caller), always("stack", &DifferenceRow::stack),
    always("phase", &DifferenceRow::phase), always("more", &DifferenceRow::more));

template <>
inline constexpr auto kDescription<DifferenceTable> =
    described("DifferenceTable", always("candidate", &DifferenceTable::candidate),
              always("role", &DifferenceTable::role), always("kind", &DifferenceTable::kind),
              always("title", &DifferenceTable::title), always("remark", &DifferenceTable::remark),
              always("rows", &DifferenceTable::rows));

template <>
inline constexpr auto kDescription<OwnerRow> =
    described("OwnerRow", always("owner", &OwnerRow::owner), always("words", &OwnerRow::words),
              always("baseline_bytes", &OwnerRow::baseline_bytes),
              always("candidate_bytes", &OwnerRow::candidate_bytes));

template <>
inline constexpr auto kDescription<WaterfallStep> =
    described("WaterfallStep", always("owner", &WaterfallStep::owner),
              always("function", &WaterfallStep::function), always("words", &WaterfallStep::words),
              always("stack", &WaterfallStep::stack), always("size", &WaterfallStep::size),
              always("amount", &WaterfallStep::amount));

template <>
inline constexpr auto kDescription<ResidentTable> =
    described("ResidentTable", always("candidate", &ResidentTable::candidate),
              always("role", &ResidentTable::role), always("title", &ResidentTable::title),
              always("baseline_bytes", &ResidentTable::baseline_bytes),
              always("candidate_bytes", &ResidentTable::candidate_bytes),
              always("owners", &ResidentTable::owners), always("told", &ResidentTable::told),
              always("steps", &ResidentTable::steps), always("remarks", &ResidentTable::remarks));

template <>
inline constexpr auto kDescription<GrowingRow> =
    described("GrowingRow", always("amount", &GrowingRow::amount),
              always("bytes_per_round", &GrowingRow::bytes_per_round),
              always("function", &GrowingRow::function), always("caller", &GrowingRow::caller),
              always("stack", &GrowingRow::stack), always("phase", &GrowingRow::phase));

template <>
inline constexpr auto kDescription<GrowthLine> = described(
    "GrowthLine", always("outlook", &GrowthLine::outlook), always("stacks", &GrowthLine::stacks));

template <>
inline constexpr auto kDescription<PackedEnvelope> =
    described("Envelope", always("first", &PackedEnvelope::first),
              always("high", &PackedEnvelope::high), always("depth", &PackedEnvelope::depth));

template <>
inline constexpr auto kDescription<PhaseSpan> =
    described("PhaseSpan", always("seconds", &PhaseSpan::seconds),
              always("position", &PhaseSpan::position), always("phase", &PhaseSpan::phase));

template <>
inline constexpr auto kDescription<RoundSpan> = described(
    "RoundSpan", always("seconds", &RoundSpan::seconds), always("position", &RoundSpan::position),
    always("round", &RoundSpan::round), always("phases", &RoundSpan::phases));

template <>
inline constexpr auto kDescription<ArmRounds> = described(
    "VariantRounds", always("variant", &ArmRounds::arm), always("rounds", &ArmRounds::rounds));

template <>
inline constexpr auto kDescription<TrialTimeline> = described(
    "TrialTimeline", always("trial", &TrialTimeline::trial),
    always("by_time", &TrialTimeline::by_time), always("by_round", &TrialTimeline::by_round));

template <>
inline constexpr auto kDescription<RoleTimeline> = described(
    "RoleTimeline", always("role", &RoleTimeline::role), always("metric", &RoleTimeline::metric),
    always("seconds_per_bucket", &RoleTimeline::seconds_per_bucket),
    always("rounds_per_bucket", &RoleTimeline::rounds_per_bucket),
    always("first_position", &RoleTimeline::first_position),
    always("time_buckets", &RoleTimeline::time_buckets),
    always("round_buckets", &RoleTimeline::round_buckets),
    always("rounds_of", &RoleTimeline::rounds_of), always("trials", &RoleTimeline::trials),
    always("variants", &RoleTimeline::arms));

template <>
inline constexpr auto kDescription<ListedProfile> = described(
    "ListedProfile", always("file", &ListedProfile::file), always("variant", &ListedProfile::arm),
    always("role", &ListedProfile::role), always("trial", &ListedProfile::trial),
    always("profiler", &ListedProfile::tracer), always("round", &ListedProfile::round));

template <>
inline constexpr auto kDescription<FlameRow> =
    described("FlamePair", always("id", &FlameRow::id), always("profiler", &FlameRow::tracer),
              always("role", &FlameRow::role), always("variants", &FlameRow::arms),
              always("files", &FlameRow::files), always("why", &FlameRow::why));

template <>
inline constexpr auto kDescription<TrialNote> =
    described("TrialNote", always("trial", &TrialNote::trial),
              always("seconds", &TrialNote::seconds), always("failure", &TrialNote::failure));

template <>
inline constexpr auto kDescription<ReportExtras> = described(
    "ReportExtras", always("profiles", &ReportExtras::profiles),
    always("profile_commands", &ReportExtras::profile_commands),
    always("profile_sentences", &ReportExtras::profile_sentences),
    always("flames", &ReportExtras::flames), always("trial_notes", &ReportExtras::trial_notes),
    always("part_peaks_remark", &ReportExtras::part_peaks_remark));

template <>
inline constexpr auto kDescription<ComparedArm> = described(
    "ComparedVariant", always("name", &ComparedArm::name), always("words", &ComparedArm::words));

template <>
inline constexpr auto kDescription<Cause> = described(
    "Cause", always("amount", &Cause::amount), always("name", &Cause::name),
    always("more", &Cause::more), always("of", &Cause::of), always("resident", &Cause::resident));

template <>
inline constexpr auto kDescription<ReportModel> = described(
    "ReportLists", always("title", &ReportModel::title),
    always("confidential", &ReportModel::confidential),
    always("round_step", &ReportModel::round_step),
    always("blocks_done", &ReportModel::blocks_done), always("progress", &ReportModel::progress),
    always("reproduce", &ReportModel::reproduce), always("compared", &ReportModel::compared),
    always("setting", &ReportModel::setting), always("overall", &ReportModel::overall),
    always("causes", &ReportModel::causes), always("next_step", &ReportModel::next_step),
    always("best", &ReportModel::best), always("growth", &ReportModel::growth),
    always("growth_lines", &ReportModel::growth_lines),
    always("lower_bounds", &ReportModel::lower_bounds), always("ablation", &ReportModel::ablation),
    always("headlines", &ReportModel::headlines),
    always("side_effects", &ReportModel::side_effects),
    always("differences", &ReportModel::differences),
    always("memory_balances", &ReportModel::memory_balances),
    always("resident", &ReportModel::resident), always("part_peaks", &ReportModel::part_peaks),
    always("timelines", &ReportModel::timelines));

/// "memduel.report/2": sentences, charts and, under `results`, results.json itself.
nlohmann::json report_model_to_json(const ReportModel& model);

/// The same text, with the rounds of results.json one at a time: a long run's need not fit twice
/// into memory. Bytes that are not UTF-8 (a log line may hold any) become U+FFFD.
void write_report_model(const ReportModel& model, const TextSink& sink);

/// The element that holds the data of `flames.shown[number]`.
std::string flame_id(std::size_t number);

}  // namespace memduel
