// What loading a file of graphs costs a process, and a control group that allows it little memory.
#pragma once

#include <cstdint>
#include <filesystem>

#include "kdgat/graph_file.h"
#include "meters/cgroup.h"

namespace memduel {

class LimitedGroup {
 public:
  /// Makes it below this process's own group, which stays as it is. Throws Error(cannot_measure)
  /// where no memory group may be made or limited.
  explicit LimitedGroup(std::int64_t bytes);
  LimitedGroup(const LimitedGroup&) = delete;
  LimitedGroup& operator=(const LimitedGroup&) = delete;
  /// Its processes must have ended.
  ~LimitedGroup();

  [[nodiscard]] const TrialCgroup& cgroup() const { return group_; }

 private:
  TrialCgroup group_;
};

struct LoadingCost {
  int status = 0;  ///< as waitpid has it; the rest is 0 when this is not
  double open_seconds = 0;
  double epoch_seconds = 0;
  double anonymous_bytes = 0;  ///< resident at the end, above the begin
  double file_bytes = 0;       ///< likewise
  double sum = 0;              ///< of all features
};

/// Looks at every feature of every graph in shuffled order, in a child process, so that no loading
/// inherits another's memory; the child is put into `group` before it opens the file. Throws
/// Error(io).
LoadingCost cost_of_loading(const std::filesystem::path& path, GraphLoading loading,
                            const TrialCgroup& group = {});

/// Has the file's pages on disk and out of memory, so that the next who reads it is charged with
/// them. Throws Error(io).
void forget_cached(const std::filesystem::path& path);

}  // namespace memduel
