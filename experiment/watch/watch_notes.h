// What a watch says about itself: its limitations and warnings, in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/run_data.h"
#include "experiment/contract/trial_trace.h"
#include "experiment/watch/watch_header.h"

namespace memduel {

Note joined_late(const WatchTarget& target);

/// How a watched process went, and when.
struct GoneProcess {
  std::string name;
  bool replaced = false;  ///< its number is another process's by now
  double after_seconds = 0;
  std::size_t left = 0;  ///< of `of`, that the watch goes on with
  std::size_t of = 0;
};
Note process_gone(const GoneProcess& gone);

/// A command that did not end with 0. @param round in which it ended, where one ran.
Note command_failed(const std::string& name, const ExitRecord& exit, bool for_memory,
                    std::optional<int> round);
Note not_interleaved();
Note marks_of_several_processes();
Note processes_left_running(std::size_t descendants);

}  // namespace memduel
