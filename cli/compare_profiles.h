// Two profiles, compared: what `memduel summary --diff` and `memduel compare` of profiles share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "profile/outputs.h"

namespace memduel::cli {

struct ProfilesArguments {
  std::string baseline;
  std::string candidate;
  std::optional<std::size_t> image;  ///< see open_recording()
  SummaryOptions options;
  bool json = false;
};

/// --stacks, --frames and --all-frames.
void add_summary_options(CLI::App& verb, SummaryOptions& options);

/// --json.
void add_json_option(CLI::App& verb, bool& json);

/// Prints what the candidate has more or less than the baseline. Returns 0. Throws Error(io) for a
/// file that is no profile, Error(usage) if the profiles have no amount in common.
int compare_profile_files(const ProfilesArguments& arguments);

}  // namespace memduel::cli
