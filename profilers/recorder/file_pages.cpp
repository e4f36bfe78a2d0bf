#include "file_pages.h"

#include "counters.h"
#include "mappings.h"
#include "proc_lines.h"

namespace memduel::recorder {

namespace {

// Less does not tell of a change.
constexpr std::size_t kLeastBytes = std::size_t{1} << 20;
constexpr std::uint64_t kRestPerLook = 100;

std::uint64_t due = 0;
bool reading = false;   // one thread reads; others that come meanwhile need not
char lines[32 * 1024];  // a user may be in many groups, which are one line

void look_at_files() {
  const Turn mine(reading);
  if (!mine || !may_ask_kernel()) return;
  const std::uint64_t begin = now_ns();
  note_files(status_bytes("RssFile:", lines, sizeof lines));
  const std::uint64_t end = now_ns();
  __atomic_store_n(&due, end + kRestPerLook * (end - begin), __ATOMIC_RELAXED);
}

}  // namespace

void look_at_files_before_unmapping(std::size_t length) {
  if (length >= kLeastBytes && now_ns() >= __atomic_load_n(&due, __ATOMIC_RELAXED)) look_at_files();
}

void look_at_last_files() {
  look_at_files();
}

void restart_file_looks() {
  reading = false;
  due = 0;
}

}  // namespace memduel::recorder
