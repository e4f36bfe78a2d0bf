#include "sections/row_labels.h"

#include <algorithm>

#include "model/metric_catalogue.h"
#include "words.h"

namespace memduel {

std::string row_label(const JobFacts& job, const ResultRow& row, const ResultRows& shown) {
  const bool is_only_time =
      std::ranges::count(shown.rows, std::string(kRoundSeconds), &ResultRow::metric) == 1;
  if (row.metric == kRoundSeconds && row.role == job.reference && is_only_time)
    return metric_words(job, row.metric);
  return quantity(job, row.role, row.metric);
}

}  // namespace memduel
