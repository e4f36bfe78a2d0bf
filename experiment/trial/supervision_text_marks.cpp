#include <sys/epoll.h>

#include "experiment/marks/monotonic.h"
#include "experiment/trial/supervision.h"

namespace memduel {

/// Once for each look: a log that is written without pause would wake us for every line.
void Supervision::watch_logs(int operation) const {
  if (text_marks_->descriptor() < 0) return;
  epoll_event event{EPOLLIN | EPOLLONESHOT,
                    {.ptr = const_cast<std::optional<TextMarks>*>(&text_marks_)}};
  epoll_ctl(poll_.get(), operation, text_marks_->descriptor(), &event);
}

void Supervision::read_text_marks(std::int64_t now) {
  if (now < text_marks_->due_ns()) return;
  take_marked_lines(text_marks_->read(now));
  watch_logs(EPOLL_CTL_MOD);
}

std::vector<pid_t> Supervision::processes_of(const std::string& role) {
  if (const SupervisedProcess* process = find(role)) return process->members;
  std::vector<pid_t> matched;
  for (const auto& [pid, matched_role] : members_.matched()) {
    if (matched_role == role) matched.push_back(pid);
  }
  return matched;
}

void Supervision::take_marked_lines(const std::vector<MarkedLine>& lines) {
  for (const MarkedLine& line : lines) {
    SupervisedProcess* process = find(line.role);
    RoleTrace& trace =
        process != nullptr ? process->trace : matched_trace(line.role, monotonic_ns());
    MarkSizes sizes;
    if (line.marks.front().kind != Mark::Kind::gauge) {
      RoleMemory& memory = role_memory_[line.role];
      sizes = memory.read(processes_of(line.role));
      trace.peaks_reset = trace.peaks_reset && memory.peaks_reset();
    }
    const std::int64_t now = monotonic_ns();
    for (Mark mark : line.marks) {
      mark.t_ns = now;
      mark.sizes = sizes;
      sizes.peak.reset();  // of the stretch that the line's first mark ended
      process != nullptr ? take_text_mark(*process, std::move(mark))
                         : take_text_mark(trace, std::move(mark));
    }
  }
}

/// What a process says through annotate.h is exact; of its lines only the metrics count then.
void Supervision::take_text_mark(SupervisedProcess& process, Mark mark) {
  if (process.marks.marking_pid != 0 && mark.kind != Mark::Kind::gauge) {
    text_marks_->pass_over(process.role());
    return;
  }
  MarkEvent event{std::move(mark), {}};
  note_round(process, event);
  process.trace.marks.push_back(event);
  lend_round(process, event.mark);
}

/// Of descendants that are a role of their own.
void Supervision::take_text_mark(RoleTrace& trace, Mark mark) {
  MarkEvent event{std::move(mark), {}};
  if (event.mark.kind != Mark::Kind::gauge) event.reading = meters_.read(trace.role);
  count_round(trace, event.mark);
  trace.marks.push_back(std::move(event));
}

}  // namespace memduel
