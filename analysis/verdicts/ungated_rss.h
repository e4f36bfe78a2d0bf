// Resident memory that changed beyond its margin while no gate asks for it: what a reader of
// another tool would see first must not be missing without a word.
#pragma once

#include "analysis/values/results.h"

namespace memduel {

/// A warning for each candidate whose peak RSS regressed although no gate on memory failed: how
/// much of it are pages of mapped files, which the kernel can drop. `results` has its gates,
/// comparisons and differences.
std::vector<Note> ungated_rss(const Results& results);

}  // namespace memduel
