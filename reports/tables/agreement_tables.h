// Tracers side by side, put the way the report shows them.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/results.h"

namespace memduel {

/// One tracer's answer to one question.
struct ShownAmount {
  std::string amount;  ///< "1.98 MiB", "1.15 MiB ± 88.8 KiB"; "–" where it does not know
  std::string change;  ///< "−0.24 %"; empty for the reference and where nothing is compared
};

struct AgreementRow {
  std::string tracer;
  std::string tool;
  std::string counts;                ///< what its amounts are, and what else makes them differ
  std::vector<ShownAmount> amounts;  ///< peak, allocated, live
  std::string stacks;                ///< "10 of 10 at the peak, 9 with the same bytes"
};

/// A stack of the reference; amounts in the order of the table's rows.
struct AgreementStackRow {
  std::string question;  ///< "at the peak"
  std::string function;  ///< the one that tells most, see telling_frame
  std::vector<std::string> stack;
  std::vector<std::string> amounts;  ///< "–" where the tracer has none
};

/// One role of one arm.
struct AgreementTable {
  std::string title;  ///< "server of original"
  std::string reference;
  std::vector<AgreementRow> rows;
  std::vector<AgreementStackRow> stacks;
};

/// Empty where no role ran under two tracers.
std::vector<AgreementTable> agreement_tables(const Results& results);

/// How far each tracer is from the reference, in one sentence; empty where there is one alone.
std::string agreement_sentence(const Results& results);

}  // namespace memduel
