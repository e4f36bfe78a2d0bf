#include "model_json.h"

#include <fmt/format.h>

#include "confidential.h"
#include "util/json.h"
#include "verdict/result_files.h"
#include "words.h"

namespace memduel {
namespace {

using nlohmann::json;

FlameRow flame_row(const FlamePair& pair, const std::string& id, const std::string& why) {
  return {id, pair.tracer, pair.role, pair.arms, pair.files, why};
}

ReportExtras extras_of(const ReportModel& model) {
  ReportExtras extras;
  extras.profiles = model.profiles.profiles;
  extras.profile_commands = model.profiles.commands;
  extras.profile_sentences = model.profiles.sentences;
  for (std::size_t i = 0; i < model.flames.shown.size(); ++i)
    extras.flames.push_back(flame_row(model.flames.shown[i].pair, flame_id(i), ""));
  for (const AbsentFlame& one : model.flames.absent)
    extras.flames.push_back(flame_row(one.pair, "", one.why));
  for (const TrialData& trial : model.results.trials)
    extras.trial_notes.push_back({trial.id, trial.seconds(), trial.failure});
  extras.part_peaks_remark = kPartPeaksRemark;
  return extras;
}

json shown_config(const ReportModel& model) {
  json config = written_document(model.config);
  if (model.confidential) redact(config);
  return config;
}

json model_with(const ReportModel& model, json results) {
  json document = written(model);
  document.update(written(extras_of(model)));
  document["schema"] = "memduel.report/2";
  document["config"] = shown_config(model);
  document["results"] = std::move(results);
  return document;
}

}  // namespace

PackedEnvelope as_written(const Envelope& envelope) {
  PackedEnvelope packed;
  packed.first = envelope.first;
  std::int64_t before = 0;
  for (std::size_t i = 0; i < envelope.high.size(); ++i) {
    packed.high.push_back(envelope.high[i] - before);
    packed.depth.push_back(envelope.high[i] - envelope.low[i]);
    before = envelope.high[i];
  }
  return packed;
}

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
