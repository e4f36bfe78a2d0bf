// The report model as the viewer reads it.
#pragma once

#include <nlohmann/json.hpp>

#include "analysis/json/results_json.h"
#include "reports/tables/report_model.h"

namespace memduel {

/// "memduel.report/1": sentences, charts and, under `results`, results.json itself.
nlohmann::json report_model_to_json(const ReportModel& model);

/// The same text, with the rounds of results.json one at a time: a long run's need not fit twice
/// into memory. Bytes that are not UTF-8 (a log line may hold any) become U+FFFD.
void write_report_model(const ReportModel& model, const TextSink& sink);

/// The element that holds the data of `flames.shown[number]`.
std::string flame_id(std::size_t number);

}  // namespace memduel
