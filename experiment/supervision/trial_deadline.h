// What is said of a trial that has not ended in its time.
#pragma once

#include <deque>
#include <string>

#include "experiment/supervision/supervised_process.h"

namespace memduel {

/// Who is still there, what each said last, and what to do about one that nobody ends.
std::string describe_overrun(const TrialPlan& plan, const std::deque<SupervisedProcess>& processes);

}  // namespace memduel
