// A run in one line of a list: what was compared, the answer, and the change of peak RSS.
#pragma once

#include <string>

#include "model/document.h"
#include "reports/report_document.h"
#include "verdict/results.h"

namespace memduel {

/// What the gates came to.
Answer answer_of(const Results& results);

/// "./old --load vs. ./new --load" if the variants are commands, else the names of the variants.
std::string compared_words(const Document& config);

/// "peak RSS −83%" of the candidate that the headline is about; empty if no peak RSS was compared.
std::string peak_rss_change(const Results& results);

}  // namespace memduel
