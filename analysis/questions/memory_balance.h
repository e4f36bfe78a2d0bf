// Of what a role's memory differs by: what is live, what is file-backed or shared, and what no part
// explains.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/results.h"

namespace memduel {

struct MemoryPart {
  std::string name;       ///< "live blocks at the peak"
  bool profiled = false;  ///< from profile trials, which are no part of the verdict
  double baseline_bytes = 0;
  double candidate_bytes = 0;

  [[nodiscard]] double difference() const { return candidate_bytes - baseline_bytes; }
};

/// A role and candidate; the parts' differences and `rest_bytes` sum up to that of `total`.
struct MemoryBalance {
  std::string role;
  std::string candidate;
  std::string metric;  ///< of `total`: the verdict's, where that is resident memory
  MemoryPart total;
  std::vector<MemoryPart> parts;
  double rest_bytes = 0;
  std::string rest;                  ///< what the rest is, or why it cannot be told
  std::vector<MemoryPart> at_marks;  ///< readings beside the balance, each at its own highest
};

/// Of the roles that gates ask about, the best candidate's first, from medians. Live blocks are
/// those of profile trials at the peak; of roles without any those of the allocator at marks, which
/// miss what comes and goes between them. Roles of which no part is known are left out.
std::vector<MemoryBalance> memory_balances(const Results& results);

}  // namespace memduel
