// The sections of a report, one file each. A section reads the model and is empty where it has
// nothing to show; document.cpp lists them in their order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/report_document.h"
#include "reports/report_model.h"

namespace memduel {

/// The answer to the whole run.
struct Headline {
  Answer answer = Answer::no_gates;
  Text sentence;
  Text exit;
};
Headline headline_of(const ReportModel& model);

/// The baseline first; without variants of an ablation.
std::vector<ComparedVariant> compared_variants(const ReportModel& model);

/// "cleanup": the switches of a variant that the baseline has not or has otherwise.
std::vector<std::string> differing_switches(const nlohmann::json& own,
                                            const nlohmann::json& baseline);

/// "memduel ablate x/config.json" of a run by "memduel run x/config.json"; empty of other commands.
std::string ablation_command(const std::string& reproduce);

/// "8 trials each, 2026-11-26, 2 cores, 23.5 GiB".
std::string setting_words(const ReportModel& model);

/// The row of wall time: of the reference role where it has one, else of the first role that has;
/// null where none has.
const Comparison* time_row(const Results& results, const std::string& candidate);

/// Whether no other candidate's median of the first row of memory is lower.
bool uses_least(const Results& results, const std::string& candidate);

/// The code of the limitation that a Python program has a random hash seed.
inline constexpr const char* kPythonNotPinned = "python_not_pinned";

bool has_limitation(const Results& results, std::string_view code);

/// Of RSS first, then GPU memory, heap, mapped memory, other bytes, growth, counts, anything else,
/// time: the order of rows in a table.
int metric_order(const std::string& metric);

/// One file each of which report.junit and annotations make a line: every gate.
std::vector<Check> checks_of(const ReportModel& model);

// First screen.
Section results_section(const ReportModel& model);
Section trend_section(const ReportModel& model);
Section growth_notice_section(const ReportModel& model);
Section why_section(const ReportModel& model);
Section switches_section(const ReportModel& model);
Section next_step_section(const ReportModel& model);
Section caveats_notice_section(const ReportModel& model);

// Details.
Section gates_section(const ReportModel& model);
Section output_section(const ReportModel& model);
Section switch_values_section(const ReportModel& model);
Section owners_section(const ReportModel& model);
Section balance_section(const ReportModel& model);
Section stacks_section(const ReportModel& model);
Section rounds_section(const ReportModel& model);
Section growth_section(const ReportModel& model);
Section flames_section(const ReportModel& model);
Section ablation_section(const ReportModel& model);
Section lower_bounds_section(const ReportModel& model);
Section parts_section(const ReportModel& model);
Section metrics_section(const ReportModel& model);
Section caveats_section(const ReportModel& model);
Section profiles_section(const ReportModel& model);
Section method_section(const ReportModel& model);
Section reproduce_section(const ReportModel& model);

}  // namespace memduel
