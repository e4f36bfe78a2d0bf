// What a report leaves out when it goes to people who may see the numbers but not the machine.
#pragma once

#include "reports/report_model.h"

namespace memduel {

/// What stands in the place of every text left out.
inline constexpr const char* kLeftOut = "(left out)";

/// Before sentences are made of them: lines that programs printed, directories of source files.
void leave_out_printed_lines(Results& results);

/// Replaces arguments, environment values, paths, patterns and log lines, wherever they are. The
/// config stays as it is: compared_arms() and the page leave out what is private of it.
void make_confidential(ReportModel& model);

/// Of a config or an environment: arguments, values of the environment and paths.
void redact(nlohmann::json& value);

/// The text with everything that looks like a path replaced.
std::string without_paths(const std::string& text);

}  // namespace memduel
