// What was seen of one trial (marks with what the meters read at them, samples, ends), and the
// metrics that it becomes, as the documented names mean them. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "memory/kernel_files.h"
#include "meters/meter.h"
#include "model/run_data.h"
#include "profile/recorded_files.h"
#include "trial/marks.h"
#include "trial/processes.h"

namespace memduel {

struct MarkEvent {
  Mark mark;
  MeterReading reading;  ///< at round begins and ends and at idle; empty at other marks
  /// From a line of output: what was read at it was read when the program may have gone on.
  bool is_of_line = false;
};

/// PSS of several roles, read one right after the other.
struct PssSweep {
  std::int64_t t_ns = 0;
  std::map<std::string, double> bytes;
  bool complete = false;  ///< every role that was running is in it
};

/// What meters sampled of a role, or of all processes together. Series are empty where nothing was.
struct Samples {
  Series rss{"rss_bytes", {}, {}};
  Series rss_of_files;     ///< of each of these the pages of mapped files
  Series process_peaks;    ///< VmHWM of any one process, whenever a reading of it was another
  Series heap;             ///< sums over its images
  Series mapped;           ///< likewise, of the program's own mappings
  Series heap_and_mapped;  ///< likewise, with what is touched of large mappings
  Series uncounted;        ///< anonymous memory of processes without the recorder, part of that
  std::map<std::string, Series> others;  ///< by name (MetricInfo::series)
};

/// The place of a series by its name.
Series& place_of(const std::string& series, Samples& samples);

struct RoleTrace : Samples {
  std::string role;
  std::int64_t begin_ns = 0;
  std::vector<MarkEvent> marks;
  bool peaks_reset = true;  ///< false: VmHWM in the marks is the peak of the whole life
  std::vector<HeapCounters> heap_images;        ///< as they ended
  std::optional<std::int64_t> ready_ns;         ///< when a readiness condition was met
  std::optional<std::int64_t> ready_rss_bytes;  ///< then, of all its processes
  std::optional<ExitRecord> exit;
  /// Of processes of the role that their own parent did not wait for; the launcher did.
  std::optional<std::int64_t> reaped_max_rss_bytes;
  std::int64_t earlier_peak_bytes = 0;  ///< before `begin_ns`: this is a part of a longer trace
  bool ended_well = false;
  /// Its processes are descendants of other roles' (`match`): its CPU time is in theirs.
  bool of_descendants = false;
  /// It had other processes besides the one that marks: their sum is only sampled.
  bool has_several_processes = false;
  /// Some of its descendants are a role of their own: what `exit` says of children is theirs, too.
  bool has_matched_descendants = false;
  bool has_lent_rounds = false;  ///< its rounds are the reference role's
  int last_round_begun = 0;
  int last_round_ended = 0;  ///< by its own mark, by the next one's begin, or by time
  std::int64_t last_round_begun_ns = 0;
  std::int64_t longest_round_ns = 0;  ///< between the begins of rounds
  bool marks_round_ends = false;
  bool last_round_ended_by_time = false;
  /// Others went on when the process of `exit` ended: what it used is not what the role used.
  bool outlived_its_process = false;
};

/// Anonymous and shared memory of a trial's control group.
struct SharedOnce {
  std::int64_t bytes = 0;          ///< each page once, at the largest sample
  std::int64_t besides = 0;        ///< the most of any sample that a group is charged with besides
  std::int64_t counted_again = 0;  ///< by the sum over its processes, the most of any look
};

struct TrialTrace {
  std::vector<RoleTrace> roles;
  std::string reference;  ///< the role whose rounds are the tree's; empty: the first
  Samples tree;           ///< sums over all roles, sampled together; of devices all that is used
  std::vector<PssSweep> sweeps;
  std::optional<std::int64_t> peak_cgroup_bytes;
  CgroupParts cgroup_parts;                   ///< when most was sampled
  std::map<int, std::int64_t> cgroup_rounds;  ///< the most in each of the reference's rounds
  std::optional<SharedOnce> shared_once;      ///< the largest sample
};

/// Whether the role marked where a round begins.
bool marks_rounds(const RoleTrace& trace);

/// Names of the phases that a role which marks rounds began outside every round, each once, in the
/// order of their first begin. Empty for a role without rounds: its whole life is one.
std::vector<std::string> phases_outside_rounds(const RoleTrace& trace);

/// The role's end: its exit, else its last sample or mark.
std::int64_t end_of(const RoleTrace& trace);

/// The level that `_above_idle_` metrics subtract.
struct IdleLevel {
  std::int64_t t_ns = 0;
  std::int64_t bytes = 0;
};

/// RSS at the last idle mark before the first round, else at readiness where that came before the
/// first round. Absent without these: a first mark may come after the model.
std::optional<IdleLevel> idle_level(const RoleTrace& trace);

/// The largest sample with from_ns <= t <= to_ns.
std::optional<std::int64_t> largest_between(const Series& series, std::int64_t from_ns,
                                            std::int64_t to_ns);

/// Adds a part, or replaces a smaller one of the same kind. Parts stay in the order of time.
void keep_largest(std::vector<OutsideRounds>& parts, const OutsideRounds& part);

/// Turns rounds after number `last` into a part after the rounds.
void drop_rounds_after(RoleData& role, int last);

/// Rounds, phases and metrics of one role. A role without marks is one round from its start to its
/// end, with peaks from samples and from the kernel's account at exit.
RoleData role_metrics(const RoleTrace& trace, const std::vector<PssSweep>& sweeps);

/// All processes together: peaks are the largest sampled sums. Its rounds are those of `server`, or
/// of the first role. `roles` are the results of role_metrics in the order of trace.roles.
RoleData tree_metrics(const TrialTrace& trace, const std::vector<RoleData>& roles);

}  // namespace memduel
