// Where the arms differ, put the way every report shows it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/values/results.h"

namespace memduel {

/// Of so many roles a report says where they differ: of those that change most.
inline constexpr std::size_t kMostRoles = 3;

struct DifferenceRow {
  std::string amount;                ///< "+4.0 MiB", "−120 blocks"
  double size = 0;                   ///< candidate minus baseline: bytes, of allocations blocks
  double half_width = 0;             ///< of its 95 % interval, where the recorder sampled
  std::string share;                 ///< "97 %" of everything that differs
  std::string function;              ///< the one that tells most, see telling_frame; short
  std::string caller;                ///< of it, see telling_caller
  std::vector<std::string> callers;  ///< of it, innermost first; short
  std::vector<std::string> stack;    ///< outermost first, whole
  std::string phase;                 ///< empty: in none
  bool more = false;                 ///< the candidate has more
};

/// One role and question, a candidate against the baseline.
struct DifferenceTable {
  std::string candidate;
  std::string role;
  std::string kind;   ///< as in Difference
  std::string heap;   ///< as in Difference
  std::string title;  ///< "server at its peak: 200.1 MiB with a, 204.1 MiB with b"
  std::vector<DifferenceRow> rows;
  std::string remark;  ///< how much could not be matched
};

/// The questions that the failed gates ask, without one those of all gates; of the best candidate
/// first. Empty without profile
/// trials of both sides.
std::vector<DifferenceTable> difference_tables(const Results& results);

/// "+4.0 MiB ± 1.0 MiB", of allocations "−120 blocks".
std::string amount_of(const std::string& kind, double size, double half_width);

/// Of the role that changed most, where the role asked about stands for several, the table that
/// explains a metric; of the heap's own metrics only what malloc gave. Absent where none does: the
/// metric is of another kind of memory, or there are no profile trials of both sides.
std::optional<DifferenceTable> difference_table_for(const Results& results,
                                                    const std::string& candidate,
                                                    const std::string& role,
                                                    const std::string& metric);

/// The function of a stack (outermost first) that a reader knows, as an index: the name of a
/// runtime's memory, else the innermost one in Python, else the innermost that has a name and is
/// neither a standard library's nor an allocator's nor starts programs or threads, else a place in
/// the program, else the innermost.
std::size_t telling_frame(const std::vector<std::string>& stack);

/// For whom that function works: its nearest caller that is neither of the C++ library, of LibTorch
/// or of an allocator, nor a method of the same class, nor an operator. Empty where there is none.
std::string telling_caller(const std::vector<std::string>& stack);

}  // namespace memduel
