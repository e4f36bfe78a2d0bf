// The marks of one role, whichever of its processes sends them.
#pragma once

#include <sys/types.h>

#include <map>
#include <vector>

#include "experiment/marks/marks.h"
#include "experiment/marks/marks_socket.h"

namespace memduel {

class RoleMarks : public MarksSocket {
 public:
  /// Reads what has arrived and returns the new marks of the role's marking process, which is the
  /// first that says `start`; those of other processes are counted and dropped.
  std::vector<Mark> receive_marks();

  pid_t marking_pid = 0;
  int foreign_marks = 0;
  int garbage_lines = 0;

 private:
  std::map<pid_t, MarkReader> readers_;
};

}  // namespace memduel
