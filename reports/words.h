// Verdicts as sentences for somebody who was not there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/report_model.h"
#include "verdict/results.h"

namespace memduel {

/// Beside the peaks of parts.
inline constexpr const char* kPartPeaksRemark =
    "Each at its own highest in any round, so that they do not add up; medians of the measured "
    "trials.";

/// "41% LESS", "12.0 MiB/round MORE", of a row with an effect.
std::string change_words(const Comparison& comparison);

/// How a sentence speaks of a role's memory or time: "server", "largest-client", "whole-job".
std::string role_words(const JobFacts& job, const std::string& role);

/// A difference with its sign: "−12.0 KiB", "+1.5 s".
std::string signed_metric(const std::string& metric, double value);

/// "94% LESS", "the SAME", "not decided".
std::string decided_words(const Comparison& comparison);

/// "94% LESS (160.0 → 10.0 MiB, 93.7–93.9%, 8 blocks)", "the SAME (…)", "cannot be told (…)".
std::string short_effect(const Comparison& comparison);

/// "server memory at its peak 94% LESS (160.0 → 10.0 MiB)": of a change, decided or not.
std::string change_in_words(const JobFacts& job, const Comparison& comparison);

/// With the minus sign that the reports use before their own numbers: "-2.5% to +1%" is "−2.5%
/// to +1%"; hyphens in names stay.
std::string with_minus(std::string_view text);

/// What the metric of a role is about: "server memory above idle at its peak". `job` knows which
/// roles stand for a group: "largest-worker memory above idle at its peak".
std::string quantity(const JobFacts& job, const std::string& role, const std::string& metric);

/// "optimized uses 41% LESS server memory at its peak than original (100.0 → 59.0 MiB, 38–43%,
/// 8 blocks): improved".
Sentence effect_sentence(const JobFacts& job, const Comparison& comparison);

/// "meets the 24.0 GiB limit in round 31 (30–33), 62 min 30 s after the first began".
std::string projection_words(const Projection& to);

/// Of a role's arms, at least one: "server memory from round to round: original grows 0.78 GiB per
/// round and meets the 24.0 GiB limit in round 31 (30–33); optimized is flat".
Sentence growth_sentence(const JobFacts& job, const std::vector<const Growth*>& arms);

/// "watch: command memory rises by 1.00 MiB per round after warm-up; a verdict needs several runs":
/// of an arm that stands alone.
std::string slope_sentence(const JobFacts& job, const Growth& growth);

/// "The final models of optimized and original are bit-identical."; empty when nothing was
/// compared.
std::string model_sentence(const Equivalence& equivalence);

/// "Allocators, seen inside every process: a ran under jemalloc (libjemalloc.so.2)."; empty when no
/// arm names one.
std::string allocator_sentence(const std::vector<ArmSummary>& arms);

/// "The file out.txt of optimized and original is the same."; of one that every trial leaves.
std::string file_sentence(const Equivalence& equivalence, const FileEquivalence& file);

/// Whether the run fails because nothing could be compared, and no gate says so.
bool is_told_by_no_gate(const Results& results);

}  // namespace memduel
