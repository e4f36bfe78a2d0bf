// A made-up run whose every number follows from a formula, so that tests know what a report must
// say.
#pragma once

#include "model/run_data.h"
#include "reports/report_document.h"
#include "reports/report_model.h"
#include "verdict/results.h"

namespace memduel {

struct SampleOptions {
  int candidates = 1;
  int blocks = 8;
  int rounds = 5;     ///< 0: a job without marks
  int next_look = 0;  ///< of a run that goes on: no row has a verdict before this block
  bool phases = true;
  bool series = true;
  bool hostile = false;  ///< names, log lines and notes that try to break out of every format
  bool zeros = false;    ///< no bytes anywhere
  bool failed_trial = false;
  bool all_failed = false;
  bool ablation = false;     ///< see add_ablation in test_sample_run.cpp
  bool differences = false;  ///< of the server's peak, see add_differences
  bool snapshots = false;    ///< of the server's resident memory, see add_resident
  /// A profile trial of each arm, 4% longer; sample_profiles() are its files.
  bool profiles = false;
  bool growth = false;  ///< see add_growth in test_sample_run.cpp
  bool parts = false;   ///< of the server, see add_parts in test_sample_run.cpp
};

struct Sample {
  Results results;
  RunData run;
};

/// Roles server, client-1, client-2 and tree. The baseline's server peaks at 600 MiB, candidate k's
/// at 600 * 0.6^k MiB, plus 1 MiB per round and up to 2 MiB by block; clients are the same in all
/// arms.
Sample make_sample(const SampleOptions& options = {});

/// Whether a line of a terminal has at most `width` characters, or one word, which stays whole so
/// that it can be copied.
bool fits(const std::string& line, std::size_t width);

/// Of each profile trial the server's script and program, and a client.
std::vector<ProfileFile> sample_profiles(const Sample& sample);

/// Its report.
ReportModel sample_model(const SampleOptions& options);
ReportDocument sample_document(const SampleOptions& options);

}  // namespace memduel
