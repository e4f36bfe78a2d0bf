// Where variants differ in memory, what caused it, which stacks grow, and who owns resident pages,
// as tables that every format shows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "profile/function_names.h"
#include "verdict/results.h"

namespace memduel {

/// Of so many roles a report says where they differ: of those that change most.
inline constexpr std::size_t kMostRoles = 3;

struct DifferenceRow {
  std::string amount;     ///< "+4.0 MiB", "−120 allocations"
  double size = 0;        ///< candidate minus baseline: bytes, of allocations their number
  double half_width = 0;  ///< of its 95% interval, where the recorder sampled
  std::string share;      ///< "97%" of everything that differs
  std::string function;   ///< the one that tells most, see telling_frame; short
  std::string location;   ///< as Difference::location
  std::string caller;     ///< of it, see telling_caller
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
  double change = 0;  ///< candidate minus baseline, in bytes
  std::vector<DifferenceRow> rows;
  std::string remark;  ///< how much could not be matched
};

/// The questions that the failed gates ask, without one those of all gates; of the best candidate
/// first. Empty without profile
/// trials of both sides.
std::vector<DifferenceTable> difference_tables(const Results& results);

/// How much of both sides' bytes could not be matched, or only by stacks that are alike.
std::string match_remark(double unmatched_share, double guessed_share);

/// "+4.0 MiB ± 1.0 MiB", of allocations "−120 allocations".
std::string amount_of(const std::string& kind, double size, double half_width);

/// Of the role that changed most, where the role asked about stands for several, the table that
/// explains a metric; of the heap's own metrics only what malloc gave. Absent where none does: the
/// metric is of another kind of memory, or there are no profile trials of both sides.
std::optional<DifferenceTable> difference_table_for(const Results& results,
                                                    const std::string& candidate,
                                                    const std::string& role,
                                                    const std::string& metric);

/// "grow, called from State::clone", of a runtime's memory "load (small Python objects)". Where a
/// location says the file, Python's names go without it.
std::string called_from(const std::string& function, const std::string& caller,
                        const std::string& location);

/// A part of a change that a profile explains.
struct Cause {
  std::string amount;    ///< "−57.1 MiB"
  std::string name;      ///< "State::clone, called from aggregate (live allocations)"
  bool more = false;     ///< the candidate has more
  std::string function;  ///< short; empty: of many stacks, none of them large
  /// As in ShownCause.
  std::string memory = {};  // NOLINT(readability-redundant-member-init): -Wextra
  std::string caller = {};  // NOLINT(readability-redundant-member-init): -Wextra
  /// As DifferenceRow::location.
  std::string location = {};  // NOLINT(readability-redundant-member-init): -Wextra
  double size = 0;            ///< candidate minus baseline: bytes, of allocations their number
  /// Whose memory it is: "largest client"; empty where the job is one role.
  std::string role = {};  // NOLINT(readability-redundant-member-init): -Wextra
  /// What it explains: "server peak RSS".
  std::string of = {};    // NOLINT(readability-redundant-member-init): -Wextra
  bool resident = false;  ///< by a snapshot, not by the heap's profile
  double share = 0;  ///< of the change of the row that it explains; above 1 if others offset it
  /// Of the row that it explains; empty in a run of one variant.
  std::string candidate = {};  // NOLINT(readability-redundant-member-init): -Wextra
  std::string metric = {};     // NOLINT(readability-redundant-member-init): -Wextra
  std::string row_role = {};   // NOLINT(readability-redundant-member-init): -Wextra
  /// Further causes of the row, which were left out behind this one, and the largest of them.
  std::size_t others = 0;
  double largest_other = 0;
};

/// Whether a snapshot of resident memory explains the metric: resident memory at its peak.
bool is_resident_peak(const std::string& metric);

/// Three at most, the largest first; what is the rest of an owner comes after all that has a name.
/// Of resident memory by its snapshot, without one by the heap at its peak, which Cause::of then
/// says. Empty where no profile explains the metric, as for memory at the end, which no snapshot
/// shows.
std::vector<Cause> causes_of(const Results& results, const Comparison& row);

/// Leaves the first causes of a row, and notes in the last of them what was left out.
void keep_first(std::vector<Cause>& causes, std::size_t most);

/// Of a run's only variant: what its peak RSS consists of, without a snapshot its peak heap and
/// mapped memory; five at most, as causes_of() orders them. Empty without a profile.
std::vector<Cause> parts_of_peak(const Results& results);

/// Whether `causes` say what `shown` said of another metric: the same functions, as much of each.
bool repeat(const std::vector<Cause>& causes, const std::vector<Cause>& shown);

struct GrowingRow {
  std::string amount;  ///< "256.0 KiB per round"
  double bytes_per_round = 0;
  std::string function;            ///< the one that tells most, see telling_frame
  std::string location;            ///< as DifferenceRow::location
  std::string caller;              ///< of it, see telling_caller
  std::vector<std::string> stack;  ///< outermost first, whole
  std::string phase;               ///< empty: in none
};

struct GrowthLine {
  std::string outlook;  ///< whether and when it runs out of memory: "no: it is flat"
  std::vector<GrowingRow> stacks;
};

/// One per row of results.growth, in their order.
std::vector<GrowthLine> growth_lines(const Results& results);

/// The owner of what a role's measured peak has beyond its snapshots.
inline constexpr const char* kElsewhere = "elsewhere";
/// The owner of what a sum of resident sets has of pages that several processes map.
inline constexpr const char* kCountedAgain = "counted-again";

/// What an owner has in both arms.
struct OwnerRow {
  std::string owner;
  std::string words;  ///< what the owner is
  double baseline_bytes = 0;
  double candidate_bytes = 0;
};

/// A bar of the waterfall: a stack of an owner, or the rest of one.
struct WaterfallStep {
  std::string owner;     ///< empty: of all owners that have no bar of their own
  std::string function;  ///< that tells most, short; empty for the rest of the owner
  std::string location;  ///< as DifferenceRow::location
  std::string caller;
  /// "held by malloc after free (thread arenas)",
  /// "State::clone, called from aggregate (live allocations)".
  std::string words;
  std::vector<std::string> stack;  ///< outermost first, beginning with its owner
  double size = 0;                 ///< candidate minus baseline, in bytes
  std::string amount;              ///< the same in words: "−4.0 MiB"
};

struct ResidentTable {
  std::string candidate;
  std::string role;
  std::string title;
  double baseline_bytes = 0;
  double candidate_bytes = 0;
  std::vector<OwnerRow> owners;      ///< in the order of PageOwner
  std::vector<OwnerRow> told;        ///< bytes that the program tells by name: part of no sum
  std::vector<WaterfallStep> steps;  ///< sum up to the difference; less memory first
  std::vector<std::string> remarks;  ///< where the snapshots were taken, and how near the peak
};

/// Of the roles that gates ask about, the best candidate's first; of many roles those that changed
/// most. Empty without snapshots of both sides.
std::vector<ResidentTable> resident_tables(const Results& results);

/// Of `role`, or of the one that changed most of those for which it stands. Absent without
/// snapshots of both sides.
std::optional<ResidentTable> resident_table_for(const Results& results,
                                                const std::string& candidate,
                                                const std::string& role);

}  // namespace memduel
