#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "base/text.h"
#include "base/why_not_run.h"
#include "experiment/marks/monotonic.h"
#include "experiment/trial/supervision.h"

namespace memduel {
namespace {

/// A command line may have as many bytes as the system allows.
std::string shortened(const std::string& command) {
  constexpr std::size_t kMost = 300;
  if (command.size() <= kMost) return command;
  return valid_utf8(command.substr(0, kMost)) + fmt::format("… ({} bytes)", command.size());
}

}  // namespace

void Supervision::take_report(const std::optional<Packet>& report) {
  if (!report) {
    launcher_lost_ = true;
    outcome_.fail_harness("the launcher was lost");
    return;
  }
  const auto& fields = report->fields;
  if (fields[0] == "spawned") spawned(fields);
  if (fields[0] == "unstarted") unstarted(fields);
  if (fields[0] == "exited") exited(fields);
  if (fields[0] == "escaped") {
    outcome_.escaped.push_back(fmt::format("{} ({})", fields[1], fields[2]));
  }
  if (fields[0] == "ended") ended(fields);
}

void Supervision::spawned(const std::vector<std::string>& fields) {
  SupervisedProcess& process = named(fields[1]);
  process.state = State::running;
  process.pid = std::stoi(fields[2]);
  process.started_ns = monotonic_ns();
  process.trace.begin_ns = process.started_ns;
  process.is_ready = !process.readiness;
  members_.add_root(process.role(), process.pid);
  add_member(process, process.pid);
  // Not before: what a mark asks to be read is read of members.
  watch(process.marks.descriptor(), &process);
  process.trace.has_several_processes = process.members.size() > 1;
  if (stopping_since_ns_ != 0) stop(process, SIGTERM);
}

void Supervision::unstarted(const std::vector<std::string>& fields) {
  SupervisedProcess& process = named(fields[1]);
  process.state = State::ended;
  const bool by_directory = fields[2] == "entering the working directory";
  const std::string what = by_directory ? process.spec().cwd.string()
                                        : fmt::format("{}", fmt::join(process.spec().argv, " "));
  const int error = std::stoi(fields[3]);
  const std::string& program = process.spec().argv.front();
  const std::string why =
      fields[2] == "executing the program" && program.find('/') != std::string::npos
          ? why_not_run(process.spec().cwd / program, error)
          : std::strerror(error);
  fail(process,
       fmt::format("could not be started: {} ({}) failed: {}", fields[2], shortened(what), why));
}

void Supervision::exited(const std::vector<std::string>& fields) {
  SupervisedProcess& process = named(fields[1]);
  take_marks(process);
  ExitRecord record;
  record.t_ns = monotonic_ns();
  (fields[2] == "signal" ? record.signal : record.status) = std::stoi(fields[3]);
  record.cpu_seconds = std::stod(fields[4]) * 1e-6;
  record.max_rss_bytes = std::stoll(fields[5]) * 1024;
  record.minor_faults = std::stoll(fields[6]);
  record.major_faults = std::stoll(fields[7]);
  if (goes_on_as_daemon(process, record)) return;
  end_process(process, record);
}

void Supervision::end_process(SupervisedProcess& process, const ExitRecord& record) {
  take_marked_lines(text_marks_->finish(process.role()));
  process.state = State::ended;
  process.trace.exit = record;
  if (!process.trace.marks.empty()) {
    // Its last lines are read after its end.
    auto& end_ns = process.trace.exit->t_ns;
    end_ns = std::max(end_ns, process.trace.marks.back().mark.t_ns);
  }
  const ExitContext context = exit_context(process);
  process.trace.ended_well = ended_well(process.spec(), record, context);
  if (!process.trace.ended_well && !outcome_.failed() && !stop_asked()) {
    if (context.killed_for_memory) outcome_.status = TrialStatus::killed_for_memory;
    fail(process, describe_exit(record, context) + came_too_early(process));
  }
  stop_after_last_round();
  stop_others_when_due();
}

ExitContext Supervision::exit_context(const SupervisedProcess& process) const {
  return {process.is_ready,
          process.asked_to_stop,
          killed_for_memory(),
          process.running_round,
          process.readiness ? process.readiness->describe() : std::string(),
          process.asked_to_stop && stopped_after_round_};
}

/// What a failure may come from: the process did not wait for one that was not ready yet.
std::string Supervision::came_too_early(const SupervisedProcess& process) const {
  const auto unready = std::find_if(processes_.begin(), processes_.end(), [](const auto& other) {
    return other.readiness && !other.is_ready;
  });
  if (!process.is_ready || unready == processes_.end()) return {};
  return fmt::format(" while {} was not ready yet (\"after\" would make it wait)", unready->role());
}

/// Whether the kernel's count of processes killed for memory grew: the trial's own group's count,
/// or without a group that of the whole machine.
bool Supervision::killed_for_memory() const {
  if (launcher_lost_) return false;
  if (const auto own = oom_kills_of(launcher_->cgroup())) return *own > 0;
  const auto anywhere = oom_kills_anywhere();
  return anywhere && oom_kills_before_ && *anywhere > *oom_kills_before_;
}

void Supervision::ended(const std::vector<std::string>& fields) {
  outcome_.harness_cpu_seconds += std::stod(fields[1]) * 1e-6;
  outcome_.left_over = std::stoi(fields[2]);
  outcome_.survivors = std::stoi(fields[3]);
  if (fields[4] != "-") outcome_.trace.peak_cgroup_bytes = std::stoll(fields[4]);
  launcher_ended_ = true;
  if (outcome_.survivors == 0) launcher_->ended_in_order();
}

}  // namespace memduel
