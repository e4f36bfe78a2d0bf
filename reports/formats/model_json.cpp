#include "reports/formats/model_json.h"

#include <fmt/format.h>

#include "analysis/json/results_json.h"
#include "reports/tables/words.h"

namespace memduel {
namespace {

using nlohmann::json;

template <typename T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json headline_json(const Headline& h) {
  return {{"sentence", h.sentence},
          {"role", h.role},
          {"metric", h.metric},
          {"candidate", h.candidate},
          {"verdict", word(h.verdict)},
          {"tier", word(h.tier)},
          {"outcome", h.outcome ? json(word(*h.outcome)) : json(nullptr)},
          {"advisory", h.advisory},
          {"reason", h.reason}};
}

/// Maxima as successive differences and the depth below them: mostly zeros, so they compress well.
json envelope_json(const Envelope& envelope) {
  json high = json::array();
  json depth = json::array();
  std::int64_t before = 0;
  for (size_t i = 0; i < envelope.high.size(); ++i) {
    high.push_back(envelope.high[i] - before);
    depth.push_back(envelope.high[i] - envelope.low[i]);
    before = envelope.high[i];
  }
  return {{"first", envelope.first}, {"high", std::move(high)}, {"depth", std::move(depth)}};
}

json span_json(const Span& span) {
  return {{"seconds", {span.begin_seconds, span.end_seconds}},
          {"position", {span.begin_position, span.end_position}}};
}

json round_json(const RoundSpan& round) {
  json out = span_json(round.span);
  out["round"] = round.round;
  out["phases"] = json::array();
  for (const PhaseSpan& phase : round.phases) {
    json span = span_json(phase.span);
    span["phase"] = phase.phase;
    out["phases"].push_back(std::move(span));
  }
  return out;
}

json timeline_json(const RoleTimeline& t) {
  json trials = json::array();
  for (const TrialTimeline& trial : t.trials)
    trials.push_back({{"trial", trial.trial},
                      {"by_time", envelope_json(trial.by_time)},
                      {"by_round", envelope_json(trial.by_round)}});
  json arms = json::array();
  for (const ArmRounds& arm : t.arms) {
    json rounds = json::array();
    for (const RoundSpan& round : arm.rounds) rounds.push_back(round_json(round));
    arms.push_back({{"arm", arm.arm}, {"rounds", std::move(rounds)}});
  }
  return {{"role", t.role},
          {"metric", t.metric},
          {"seconds_per_bucket", t.seconds_per_bucket},
          {"rounds_per_bucket", t.rounds_per_bucket},
          {"first_position", t.first_position},
          {"time_buckets", t.time_buckets},
          {"round_buckets", t.round_buckets},
          {"rounds_of", t.rounds_of},
          {"trials", std::move(trials)},
          {"arms", std::move(arms)}};
}

json differences_json(const std::vector<DifferenceTable>& tables) {
  json out = json::array();
  for (const DifferenceTable& table : tables) {
    json rows = json::array();
    for (const DifferenceRow& row : table.rows)
      rows.push_back({{"amount", row.amount},
                      {"size", row.size},
                      {"share", row.share},
                      {"function", row.function},
                      {"caller", row.caller},
                      {"stack", row.stack},
                      {"phase", row.phase},
                      {"more", row.more}});
    out.push_back({{"candidate", table.candidate},
                   {"role", table.role},
                   {"kind", table.kind},
                   {"title", table.title},
                   {"remark", table.remark},
                   {"rows", std::move(rows)}});
  }
  return out;
}

json part_json(const MemoryPart& part) {
  return {{"name", part.name},
          {"profiled", part.profiled},
          {"baseline_bytes", part.baseline_bytes},
          {"candidate_bytes", part.candidate_bytes}};
}

json balances_json(const std::vector<MemoryBalance>& balances) {
  const auto all = [](const std::vector<MemoryPart>& parts) {
    json out = json::array();
    for (const MemoryPart& part : parts) out.push_back(part_json(part));
    return out;
  };
  json out = json::array();
  for (const MemoryBalance& balance : balances)
    out.push_back({{"role", balance.role},
                   {"candidate", balance.candidate},
                   {"metric", balance.metric},
                   {"total", part_json(balance.total)},
                   {"parts", all(balance.parts)},
                   {"rest_bytes", balance.rest_bytes},
                   {"rest", balance.rest},
                   {"at_marks", all(balance.at_marks)}});
  return out;
}

json part_peaks_json(const std::vector<PartPeaks>& all) {
  json out = json::array();
  for (const PartPeaks& peaks : all) {
    json parts = json::array();
    for (const PartPeak& part : peaks.parts) {
      json bytes = json::array();
      for (const auto& of_arm : part.bytes) bytes.push_back(or_null(of_arm));
      parts.push_back({{"name", part.name}, {"bytes", std::move(bytes)}});
    }
    out.push_back({{"role", peaks.role}, {"arms", peaks.arms}, {"parts", std::move(parts)}});
  }
  return out;
}

json agreement_json(const std::vector<AgreementTable>& tables) {
  json out = json::array();
  for (const AgreementTable& table : tables) {
    json rows = json::array();
    for (const AgreementRow& row : table.rows) {
      json amounts = json::array();
      for (const ShownAmount& one : row.amounts)
        amounts.push_back(
            {{"amount", one.amount}, {"change", one.change}, {"outcome", one.outcome}});
      rows.push_back({{"tracer", row.tracer},
                      {"tool", row.tool},
                      {"counts", row.counts},
                      {"amounts", std::move(amounts)},
                      {"stacks", row.stacks},
                      {"why", row.why}});
    }
    json stacks = json::array();
    for (const AgreementStackRow& row : table.stacks)
      stacks.push_back({{"question", row.question},
                        {"function", row.function},
                        {"stack", row.stack},
                        {"amounts", row.amounts}});
    out.push_back({{"title", table.title},
                   {"reference", table.reference},
                   {"rows", std::move(rows)},
                   {"stacks", std::move(stacks)}});
  }
  return out;
}

json growth_lines_json(const std::vector<GrowthLine>& lines) {
  json out = json::array();
  for (const GrowthLine& line : lines) {
    json stacks = json::array();
    for (const GrowingRow& row : line.stacks)
      stacks.push_back({{"amount", row.amount},
                        {"bytes_per_round", row.bytes_per_round},
                        {"function", row.function},
                        {"caller", row.caller},
                        {"stack", row.stack},
                        {"phase", row.phase}});
    out.push_back({{"outlook", line.outlook}, {"stacks", std::move(stacks)}});
  }
  return out;
}

json flame_json(const FlamePair& pair, const std::string& id, const std::string& why) {
  return {{"id", id},          {"tracer", pair.tracer}, {"role", pair.role},
          {"arms", pair.arms}, {"files", pair.files},   {"why", why}};
}

/// Shown ones have the `id` of their data, the others say `why` they have none.
json flames_json(const RunFlames& flames) {
  json out = json::array();
  for (std::size_t i = 0; i < flames.shown.size(); ++i)
    out.push_back(flame_json(flames.shown[i].pair, flame_id(i), ""));
  for (const AbsentFlame& one : flames.absent) out.push_back(flame_json(one.pair, "", one.why));
  return out;
}

/// What results.json does not say about a trial.
json trial_notes(const Results& results) {
  json notes = json::array();
  for (const TrialData& trial : results.trials)
    notes.push_back({{"trial", trial.id},
                     {"seconds", static_cast<double>(trial.end_ns - trial.begin_ns) * 1e-9},
                     {"failure", trial.failure}});
  return notes;
}

json model_with(const ReportModel& model, json results) {
  json headlines = json::array();
  for (const Headline& headline : model.headlines) headlines.push_back(headline_json(headline));
  json side_effects = json::array();
  for (const SideEffect& e : model.side_effects)
    side_effects.push_back(
        {{"topic", e.topic}, {"sentence", e.sentence}, {"verdict", word(e.verdict)}});
  json timelines = json::array();
  for (const RoleTimeline& timeline : model.timelines) timelines.push_back(timeline_json(timeline));
  json profiles = json::array();
  for (const ListedProfile& p : model.profiles.profiles)
    profiles.push_back({{"file", p.file},
                        {"arm", p.arm},
                        {"role", p.role},
                        {"trial", p.trial},
                        {"tracer", p.tracer},
                        {"round", or_null(p.round)}});
  return {{"schema", "memduel.report/1"},
          {"title", model.title},
          {"confidential", model.confidential},
          {"blocks_done", model.blocks_done},
          {"progress", model.progress},
          {"reproduce", model.reproduce},
          {"best", model.best},
          {"growth", model.growth},
          {"growth_lines", growth_lines_json(model.growth_lines)},
          {"lower_bounds", model.lower_bounds},
          {"ablation", model.ablation},
          {"headlines", std::move(headlines)},
          {"side_effects", std::move(side_effects)},
          {"differences", differences_json(model.differences)},
          {"agreement", agreement_json(model.agreement)},
          {"memory_balances", balances_json(model.memory_balances)},
          {"part_peaks", part_peaks_json(model.part_peaks)},
          {"part_peaks_remark", kPartPeaksRemark},
          {"timelines", std::move(timelines)},
          {"profiles", std::move(profiles)},
          {"flames", flames_json(model.flames)},
          {"profile_commands", model.profiles.commands},
          {"profile_sentences", model.profiles.sentences},
          {"trial_notes", trial_notes(model.results)},
          {"config", model.config},
          {"results", std::move(results)}};
}

}  // namespace

std::string flame_id(std::size_t number) {
  return fmt::format("memduel-flame-{}", number);
}

json report_model_to_json(const ReportModel& model) {
  return model_with(model, results_to_json(model.results));
}

void write_report_model(const ReportModel& model, const TextSink& sink) {
  const ResultsWriter writer(model.results);
  writer.write(model_with(model, writer.results_without_rounds()), -1, sink);
}

}  // namespace memduel
