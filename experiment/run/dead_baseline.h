// What to do where the baseline never worked.
#pragma once

#include <string>

#include "experiment/config/config.h"

namespace memduel {

/// `failure`: of its last trial. Says where the logs are, that other statuses than 0 can be allowed
/// where one ended the trial, and that nothing went through a shell where words look so.
std::string advice_on_dead_baseline(const Experiment& experiment, const std::string& failure);

}  // namespace memduel
