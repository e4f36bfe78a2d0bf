// What a program prints, as the result by which two arms are told to compute the same.
#pragma once

#include <optional>
#include <string>

#include "experiment/contract/trial_plan.h"

namespace memduel {

/// The SHA-256 of a process's standard output, in which the paths of the program, its directory and
/// the trial's are left out: they differ between arms. Absent if it printed nothing, or
/// 32 MiB or more. Throws Error(io) when the log cannot be read.
std::optional<std::string> hash_of_output(const TrialPlan& plan, const ProcessSpec& process);

}  // namespace memduel
