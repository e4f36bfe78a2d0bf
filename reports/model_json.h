// The report model as the viewer reads it (templates/src/model.ts has the same shape).
#pragma once

#include <nlohmann/json.hpp>

#include "reports/report_model.h"

namespace memduel {

/// "memduel.report/1": sentences, charts and, under `results`, results.json itself.
nlohmann::json report_model_to_json(const ReportModel& model);

/// The element that holds the data of `flames.shown[number]`.
std::string flame_id(std::size_t number);

}  // namespace memduel
