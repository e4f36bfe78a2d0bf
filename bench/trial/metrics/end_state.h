// What a role holds at the ends of its rounds: PSS, whose readings are rationed, so that most
// rounds may have none; and by samples what a role without rounds holds when its work is done,
// since no mark is there at which anybody reads it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/run_data.h"
#include "trial/trial_trace.h"

namespace memduel {

/// The level that `metric` had last for 100 ms: the last sample of three or more over that time
/// that differ by no more than the metric's margin, at most 200 ms before `end_ns`, because a
/// program may free its memory piece by piece before it exits. Absent where there is none.
std::optional<double> level_before(std::int64_t end_ns, const Series& series,
                                   const std::string& metric);

/// Resident bytes at the end of the round that began at `begin_ns` and that `mark` ends: those read
/// at the mark. A line that begins the next round is read when the program may have gone on. If the
/// samples before it were level for 100 ms, the program was idle, and that level is the round's
/// end. Absent where neither is known.
std::optional<double> rss_at_end(std::int64_t begin_ns, const MarkEvent& mark, const Series& rss);

/// end_rss_bytes, end_heap_bytes, end_mapped_bytes and end_heap_and_mapped_bytes of a role that
/// marks no rounds; nothing to others.
void add_end_state(RoleData& data, const RoleTrace& trace);

/// The same of all processes together, where none of them marks rounds.
void add_tree_end_state(RoleData& tree, const TrialTrace& trace);

/// Readings cost 9 ms per 300 MB: one shortly before a round's end stands for the end itself.
inline constexpr std::int64_t kNearEndNs = 100'000'000;

/// Adds to `data` what `bytes_of` finds in each sweep: the series `pss_bytes`, peak_pss_bytes, and
/// end_pss_bytes to the round that had ended last when a sweep ran outside rounds, or ended at most
/// kNearEndNs later; the trial's end_pss_bytes is the last round's, absent when that round has
/// none.
void add_pss(RoleData& data, const std::vector<PssSweep>& sweeps,
             const std::function<std::optional<double>(const PssSweep&)>& bytes_of);

/// Takes peak_pss_bytes away where no reading was near the peak: where the resident set, by `rss`,
/// was then more than a twentieth below its own peak, or where anonymous memory alone was more.
void keep_pss_of_the_peak(RoleData& data, const Series& rss);

}  // namespace memduel
