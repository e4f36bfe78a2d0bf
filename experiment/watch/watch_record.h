// The run that a watch leaves: one trial, which grows while the watch goes on.
#pragma once

#include <cstdint>
#include <vector>

#include "experiment/store/store.h"
#include "experiment/watch/watch.h"
#include "experiment/watch/watch_header.h"
#include "memory/memory_limit.h"

namespace memduel {

class WatchRecord {
 public:
  /// Makes the run directory. Throws what Store::create throws.
  WatchRecord(const WatchOptions& options, const std::optional<MemoryLimit>& limit,
              std::int64_t begin_ns);

  /// One of the processes executed another program: the run is of the command lines of `targets`.
  void rename(const WatchOptions& options, const std::vector<WatchTarget>& targets);
  void add_limitation(const Note& note) { store_.add_limitation(note); }
  void add_warning(const Note& note) { store_.add_warning(note); }
  void add(const std::vector<Note>& limitations, const std::vector<Note>& warnings);

  /// From the next `grow` on: the command was killed for memory.
  void killed_for_memory() { killed_for_memory_ = true; }
  /// Stores what is known at `now_ns`: rounds that are not stored yet, and all that else is known.
  void grow(std::vector<RoleData> roles, std::int64_t now_ns);

 private:
  Store store_;
  std::int64_t begin_ns_;
  bool killed_for_memory_ = false;
};

}  // namespace memduel
