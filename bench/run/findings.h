// What a conclusion finds in the files of a run directory: in its profiles where the arms differ
// and what is live at the ends of rounds, in its logs the lines that differ.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run_data.h"
#include "profile/difference.h"
#include "readers/profile_reader.h"
#include "verdict/results.h"

namespace memduel {

/// What a role's processes were seen to hold together at their peak, in bytes, in each profile
/// trial of an arm; empty where the heap was not metered.
std::vector<double> measured_peaks(const RunData& run, const std::string& arm,
                                   const std::string& role);

/// Whether the peaks of a trial's programs add up to more than the role was ever seen to hold. Of
/// several images of one program the largest counts. False where an image has no counters.
bool ran_in_turn(const ProfileSide& side, const std::vector<double>& measured);

/// Of each trial the image that held most of a heap; nothing of a trial without counters.
ProfileSide only_largest(const ProfileSide& side, Heap heap);

struct ArmDifferences {
  std::vector<Difference> differences;  ///< per candidate, role, kind and heap the largest first
  std::vector<DifferenceTotal> totals;
  std::vector<ResidentMemory> resident;  ///< per arm and role that has a snapshot
  std::vector<Note> limitations;         ///< profiles that cannot be read
};

/// Of every candidate that has heap profiles where the baseline has some by the same tracer: by the
/// recorder, else by the first other one; of a run's only variant everything that it has. Empty
/// when there are none. Reads the profiles in `run_directory`.
ArmDifferences arm_differences(const std::filesystem::path& run_directory, const RunData& run,
                               ProfileReader& reader);

/// The worktrees of a run of two revisions, then the directories in which its programs ran.
SourceRoots source_roots(const std::filesystem::path& run_directory, const Document& config);

/// Of the first profile trial of `arm` in which the recorder looked at `role`; of several process
/// images the one that has most at its last end. Nothing where there is none with rounds; a profile
/// that cannot be read is a problem more.
std::optional<LiveAtRoundEnds> kept_round_ends(const std::filesystem::path& run_directory,
                                               const RunData& run, const std::string& arm,
                                               const std::string& role, ProfileReader& reader,
                                               std::vector<Note>& problems);

/// The first line in which two texts differ, numbered from 1, by what each has there, cut after 120
/// characters. Words with a slash count as equal: paths differ between arms. Absent where no line
/// differs.
std::optional<LineDifference> first_difference(std::string_view baseline,
                                               std::string_view candidate);

/// Puts it beside each standard output that differs between two arms, of the first block whose logs
/// are still in the run's `directory`. Of a file that varies by itself it compares the lines that
/// do not; a line that differs makes the result another one.
void add_printed_differences(Results& results, const RunData& run,
                             const std::filesystem::path& directory);

}  // namespace memduel
