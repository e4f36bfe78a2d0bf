// Which series' growth a report tells, and how prominently.
#pragma once

namespace memduel {

struct ReportModel;

/// Adds sentences to the model's growth and answers. What is known comes first of all; that
/// something cannot be told is an answer among others. Needs the model's headlines.
void tell_growth(ReportModel& model);

}  // namespace memduel
