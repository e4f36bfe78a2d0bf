// The process's counters: publication from threads, rounds and phases, the page file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/layout.h"
#include "system.h"
#include "thread_state.h"

namespace memduel::recorder {

struct Settings {
  Mode mode = Mode::count;
  std::uint64_t interval_bytes = kIntervalBytes;
  std::uint64_t first_interval_bytes = 0;  ///< samples begin as dense as this; 0: interval_bytes
  std::uint64_t seed = 0;                  ///< 0: from the clock
  bool follow = true;                      ///< record forked children and executed programs too
  char directory[3000] = {};
};

extern Settings settings MEMDUEL_HIDDEN;
/// Never null: a private page until the constructor has made the file.
extern HeapPage* page MEMDUEL_HIDDEN;

/// Adds the calling thread's pending changes to the page.
void publish() MEMDUEL_HIDDEN;

/// What the calling thread may keep to itself until its next visit.
inline std::int64_t publish_bytes() {
  return publish_bytes(
      static_cast<std::int64_t>(__atomic_load_n(&page->threads, __ATOMIC_RELAXED)));
}

/// Publishes a net loss of publish_bytes; below that grants the frees that make it one.
void publish_loss() MEMDUEL_HIDDEN;

/// Creates the image's page file and moves what was counted so far into it. False: nothing can be
/// recorded (the directory is missing, full or not writable).
bool open_page() MEMDUEL_HIDDEN;

/// Bytes in mappings, and the part of them in mappings below kSparseBytes.
struct MappedBytes {
  std::int64_t all;
  std::int64_t dense;
};

/// In a forked child: a page of its own, starting from what was live and mapped at the fork.
bool reopen_page_after_fork(std::int64_t inherited_bytes,
                            const MappedBytes& inherited) MEMDUEL_HIDDEN;

/// In a forked child that is not recorded: its parent's page is not its own. publish() calls it
/// where no handler did.
void leave_page_after_fork() MEMDUEL_HIDDEN;

/// `<directory>/<image><suffix>` of this image.
void image_path(const char* suffix, char* path, std::size_t capacity) MEMDUEL_HIDDEN;

/// A mark of annotate.h (kinds there).
void mark(int kind, int round, const char* phase) MEMDUEL_HIDDEN;

/// The running round counts from the allocation at hand on, which is published already.
void restart_round(std::size_t requested, std::int64_t bytes) MEMDUEL_HIDDEN;

void add_mapping(const MappedBytes& bytes) MEMDUEL_HIDDEN;
void remove_mapping(const MappedBytes& bytes) MEMDUEL_HIDDEN;
/// `touched` bytes of the other mappings are in memory now.
void note_touched(std::int64_t touched) MEMDUEL_HIDDEN;
/// Shows the ranges of kSparseBytes and more to readers of the page; at most kMostSparse.
void show_sparse(const SparseRange* ranges, std::size_t count) MEMDUEL_HIDDEN;
/// `bytes` of mapped files are resident now.
void note_files(std::uint64_t bytes) MEMDUEL_HIDDEN;
void count_lost() MEMDUEL_HIDDEN;

/// Ends the image's records: publishes, and sets the flags `how`, of which kFinished is one.
void finish_page(std::uint32_t how) MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
