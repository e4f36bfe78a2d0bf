// A run whose trials Slurm's nodes measure, share by share: how it is submitted and collected, and
// its batch script, a job array.
#pragma once

#include <filesystem>
#include <string>

#include "config/experiment.h"
#include "run_options.h"

namespace memduel::cli {

/// DIR.shards, beside the run: the shards, the batch script, logs, and what was handed over.
std::filesystem::path shares_directory(const std::filesystem::path& run);

/// Whether a run was handed over to Slurm from here.
bool is_on_slurm(const std::filesystem::path& run);

/// The seed of a run on Slurm, which goes on with --resume. Throws Error(usage) where there is
/// none.
std::uint64_t seed_on_slurm(const std::filesystem::path& run);

/// Hands the shares of an experiment over; what was handed over before is left alone. @param config
/// the file, which the nodes can read. Throws Error(usage) where the run cannot be divided, or
/// where `run` holds one and it is not resumed; Error(cannot_measure) with what Slurm says.
void submit_to_slurm(const std::string& config, const Experiment& experiment,
                     const RunOptions& options, const std::filesystem::path& run);

/// Waits for the shares and merges them into `run`. Shares that are lost are told, and missing in
/// it. Throws Error(interrupted) for Ctrl-C, whose tasks go on unless a person at the terminal has
/// them cancelled, Error(cannot_measure) where no share is left.
void collect_from_slurm(const RunOptions& options, const std::filesystem::path& run,
                        const std::string& label);

inline constexpr const char* kNoFixedBlocks =
    "expected a fixed number of trials to divide, found none";

/// How many shares a run has at most. Throws Error(usage) for a run without a fixed, even number of
/// blocks.
int most_shares(const Experiment& experiment);

/// One task for each share, which goes on where it was ended when it is requeued. `directory` gets
/// a directory for each share. Throws what most_shares throws, and Error(usage) for more shares.
std::string slurm_script(const std::string& config, const Experiment& experiment,
                         const RunOptions& options, int shares,
                         const std::filesystem::path& directory);

}  // namespace memduel::cli
