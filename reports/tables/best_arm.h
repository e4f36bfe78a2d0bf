// Which candidate is best, in a sentence.
#pragma once

#include "analysis/values/results.h"
#include "reports/tables/sentence.h"

namespace memduel {

/// "Best of 3 candidates: minimal. server memory above idle at its peak: minimal has 94 % LESS,
/// optimized 60 % LESS; …; each against original."; empty where none improved the first gate's row,
/// and with fewer than two.
Sentence best_sentence(const Results& results);

}  // namespace memduel
