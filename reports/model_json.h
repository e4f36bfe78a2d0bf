// What the page reads, as JSON: the report's document, and beside it what its charts draw.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "reports/report_document.h"
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
  std::string label;  ///< "server: b vs. a"
  std::vector<std::string> files;
  std::string why;
};

struct PageData {
  ReportDocument document;
  std::vector<FlameRow> flames;
  std::vector<RoleTimeline> timelines;
  std::map<std::string, std::string> metrics;  ///< "peak RSS", by name: those of the charts
  int round_step = 1;
};

PackedEnvelope as_written(const Envelope& envelope);
inline const std::vector<TextRun>& as_written(const Text& text) {
  return text.runs();
}
/// Those that the page shows.
std::vector<PartValue> as_written(const std::vector<Part>& parts);

template <>
inline constexpr auto kDescription<TextRun> =
    described("TextRun", always("text", &TextRun::text), if_set("tone", &TextRun::tone),
              if_set("link", &TextRun::link));

template <>
inline constexpr auto kDescription<TrackMark> =
    described("TrackMark", always("kind", &TrackMark::kind), always("from", &TrackMark::from),
              always("to", &TrackMark::to), if_set("variant", &TrackMark::variant),
              if_set("tone", &TrackMark::tone));

template <>
inline constexpr auto kDescription<Track> = described("Track", always("marks", &Track::marks));

template <>
inline constexpr auto kDescription<StackCell> =
    described("StackCell", always("function", &StackCell::function),
              if_set("location", &StackCell::location), if_set("callers", &StackCell::callers),
              always("frames", &StackCell::frames), if_set("flame", &StackCell::flame),
              if_set("view", &StackCell::view), if_set("side", &StackCell::side));

template <>
inline constexpr auto kDescription<Cell> =
    described("Cell", always("text", &Cell::text), if_set("exact", &Cell::exact),
              if_set("value", &Cell::value), if_set("variant", &Cell::variant),
              if_set("track", &Cell::track), if_set("stack", &Cell::stack));

template <>
inline constexpr auto kDescription<Row> = described(
    "Row", always("cells", &Row::cells), if_set("look", &Row::kind), if_set("key", &Row::key));

template <>
inline constexpr auto kDescription<Column> =
    described("Column", always("title", &Column::title), if_set("is_number", &Column::is_number),
              if_set("is_filter", &Column::is_filter));

template <>
inline constexpr auto kDescription<Table> =
    described("Table", if_set("caption", &Table::caption), always("columns", &Table::columns),
              always("rows", &Table::rows), if_set("most_shown", &Table::most_shown),
              if_set("look", &Table::look), if_set("has_heading", &Table::has_heading));

template <>
inline constexpr auto kDescription<Paragraph> =
    described("Paragraph", always("text", &Paragraph::text));
template <>
inline constexpr auto kDescription<List> = described("List", always("items", &List::items));
template <>
inline constexpr auto kDescription<Command> =
    described("Command", always("command", &Command::command));
template <>
inline constexpr auto kDescription<Preformatted> =
    described("Preformatted", always("text", &Preformatted::text));
template <>
inline constexpr auto kDescription<ChartRole> =
    described("ChartRole", always("role", &ChartRole::role), always("label", &ChartRole::label),
              always("peaks", &ChartRole::peaks));
template <>
inline constexpr auto kDescription<RoundsChart> =
    described("RoundsChart", always("roles", &RoundsChart::roles));
template <>
inline constexpr auto kDescription<FlameGraphs> = described("FlameGraphs");
template <>
inline constexpr auto kDescription<Downloads> = described("Downloads");

template <>
inline constexpr auto kDescription<Fold> =
    described("Fold", always("title", &Fold::title), always("parts", &Fold::parts),
              if_set("is_open", &Fold::is_open), if_set("is_long", &Fold::is_long));
template <>
inline constexpr auto kDescription<Option> =
    described("Option", always("label", &Option::label), always("parts", &Option::parts));
template <>
inline constexpr auto kDescription<Choice> =
    described("Choice", always("label", &Choice::label), always("options", &Choice::options));

template <>
inline constexpr auto kDescription<Section> =
    described("Section", always("id", &Section::id), always("title", &Section::title),
              always("parts", &Section::parts));

template <>
inline constexpr auto kDescription<ComparedVariant> = described(
    "ComparedVariant", always("name", &ComparedVariant::name),
    always("words", &ComparedVariant::words), if_set("is_baseline", &ComparedVariant::is_baseline));

template <>
inline constexpr auto kDescription<ReportDocument> = described(
    "ReportDocument", always("title", &ReportDocument::title),
    always("name", &ReportDocument::name), always("setting", &ReportDocument::setting),
    always("notice", &ReportDocument::notice), always("answer", &ReportDocument::answer),
    always("sentence", &ReportDocument::sentence), always("exit", &ReportDocument::exit),
    always("compared", &ReportDocument::compared),
    always("first_screen", &ReportDocument::first_screen),
    always("details", &ReportDocument::details), always("reproduce", &ReportDocument::reproduce));

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
inline constexpr auto kDescription<FlameRow> =
    described("FlamePair", always("id", &FlameRow::id), always("label", &FlameRow::label),
              always("files", &FlameRow::files), always("why", &FlameRow::why));

template <>
inline constexpr auto kDescription<PageData> =
    described("PageData", always("document", &PageData::document),
              always("flames", &PageData::flames), always("timelines", &PageData::timelines),
              always("metrics", &PageData::metrics), always("round_step", &PageData::round_step));

/// "memduel.report/3": the document, charts and, under `results`, results.json itself.
nlohmann::json report_model_to_json(const ReportModel& model);

/// The same text, with the rounds of results.json one at a time: a long run's need not fit twice
/// into memory. Bytes that are not UTF-8 (a log line may hold any) become U+FFFD.
void write_report_model(const ReportModel& model, const TextSink& sink);

/// The element that holds the data of `flames.shown[number]`.
std::string flame_id(std::size_t number);

}  // namespace memduel
