// The tables of the report for a terminal: metrics, rounds, profiles, ablation, differences, parts.
#pragma once

#include <string>
#include <vector>

#include "reports/report_model.h"
#include "reports/terminal.h"
#include "verdict/results.h"

namespace memduel {

/// A verdict in its colour, and a warning or limitation with its advice: as lines that fit.
std::string headline_lines(const Headline& headline, const TerminalOptions& options);
/// A command at the end of the advice keeps its line.
std::string note_lines(const char* kind, const Note& note, int width);

/// The important metrics, with a blank line before it: 80 columns.
std::string render_table(const ReportModel& model, const TerminalOptions& options);

/// Each round's median peak as a sparkline, by role and arm; empty where no arm has two rounds.
std::string render_rounds(const ReportModel& model);

/// What profile trials left, and the commands that open it, which are not broken.
std::string render_profiles(const ReportModel& model, const TerminalOptions& options);

/// A table of 80 columns for every metric of whole trials, and the largest savings of
/// every phase; empty without an ablation.
std::string render_ablation(const ReportModel& model, const TerminalOptions& options);

/// The largest stacks of every table, three lines each; empty without profile trials.
std::string render_differences(const ReportModel& model, const TerminalOptions& options);

/// The waterfall of the first role, a line a step; empty without snapshots.
std::string render_resident(const ReportModel& model, const TerminalOptions& options);

/// The baseline and as many arms as the width holds; empty where no role has parts.
std::string render_parts(const ReportModel& model, const TerminalOptions& options);

/// Whether the whole job's row of this metric says the same: where a role is the whole job, each of
/// its numbers is there twice. A gate row never repeats one that is none.
bool repeats_the_job(const Comparison& row, const std::vector<Comparison>& rows);

}  // namespace memduel
