#include "model_json.h"

#include <fmt/format.h>

#include "confidential.h"
#include "util/json.h"
#include "verdict/result_files.h"
#include "words.h"

namespace memduel {
namespace {

using nlohmann::json;

std::string label_of(const FlamePair& pair) {
  const std::string profiler = pair.tracer == "recorder" ? "" : ", by " + pair.tracer;
  return pair.arms.size() > 1
             ? fmt::format("{}: {} vs. {}{}", pair.role, pair.arms[1], pair.arms[0], profiler)
             : fmt::format("{}: {}{}", pair.role, pair.arms.at(0), profiler);
}

/// Rounds of a role have the same metrics.
std::map<std::string, std::string> metrics_of_charts(const ReportModel& model) {
  std::map<std::string, std::string> words;
  const auto add = [&](const std::string& name) {
    if (!words.contains(name)) words[name] = metric_words(model.results.job, name);
  };
  for (const TrialData& trial : model.results.trials)
    for (const RoleData& role : trial.roles) {
      for (const auto& [name, value] : role.metrics) add(name);
      if (role.rounds.empty()) continue;
      for (const auto& [name, value] : role.rounds.front().metrics) add(name);
    }
  for (const RoleTimeline& timeline : model.timelines) add(timeline.metric);
  return words;
}

PageData page_data_of(const ReportModel& model) {
  PageData data;
  data.document = document_of(model);
  data.timelines = model.timelines;
  data.metrics = metrics_of_charts(model);
  data.round_step = model.round_step;
  for (std::size_t i = 0; i < model.flames.shown.size(); ++i) {
    const FlamePair& pair = model.flames.shown[i].pair;
    data.flames.push_back({flame_id(i), label_of(pair), pair.files, ""});
  }
  for (const AbsentFlame& one : model.flames.absent)
    data.flames.push_back({"", label_of(one.pair), one.pair.files, one.why});
  return data;
}

json shown_config(const ReportModel& model) {
  json config = written_document(model.config);
  if (model.confidential) redact(config);
  return config;
}

json model_with(const ReportModel& model, json results) {
  json document = written(page_data_of(model));
  document["schema"] = "memduel.report/3";
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

std::vector<PartValue> as_written(const std::vector<Part>& parts) {
  std::vector<PartValue> shown;
  for (const Part& part : parts)
    if (part.is_in_page()) shown.push_back(part.value);
  return shown;
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
