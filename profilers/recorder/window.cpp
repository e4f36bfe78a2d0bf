#include "window.h"

#include "account.h"
#include "counters.h"
#include "stacks/unwind.h"

namespace memduel::recorder {

std::uint32_t waiting_thread = 0;

namespace {

// A framework allocates a few blocks before it calls back. After more than these its callback must
// be inlined, and all counts.
constexpr int kMostLooks = 64;

std::int64_t live_at_begin = 0;
std::uintptr_t framework = 0;
int looks = 0;
NativeStack stack;

// Whether the instruction that ends here is a call through a register or a table of functions: ff
// /2, but for ff 15, by which a direct call reaches another library.
bool is_indirect_call(const unsigned char* end) {
  for (const int length : {2, 3, 4, 6, 7}) {
    const unsigned char* call = end - length;
    if (call[0] != 0xff || (call[1] & 0x38) != 0x10 || call[1] == 0x15) continue;
    const int mode = call[1] >> 6;
    const bool has_index = mode != 3 && (call[1] & 7) == 4;
    const bool is_absolute = mode == 0 && has_index && (call[2] & 7) == 5;
    const int displacement = mode == 1 ? 1 : mode == 2 || is_absolute ? 4 : 0;
    if (length == 2 + (has_index ? 1 : 0) + displacement) return true;
  }
  return false;
}

// The innermost call is that of the allocator.
bool is_called_back() {
  for (int i = 0; i + 1 < stack.count; ++i) {
    const bool inside = stack.frames[i + 1].cfa <= framework;
    if (inside && is_indirect_call(reinterpret_cast<const unsigned char*>(stack.frames[i].ip + 1)))
      return true;
  }
  return false;
}

}  // namespace

void begin_window(std::uintptr_t caller) {
  publish();
  live_at_begin = page->live_bytes;
  framework = caller;
  looks = 0;
  if (caller == 0) return;
  visit_next_allocation();
  __atomic_store_n(&waiting_thread, tls.id, __ATOMIC_RELAXED);
}

void look_for_callback(std::size_t requested, std::int64_t bytes) {
  walk_stack(stack);
  if (is_called_back()) {
    restart_round(requested, bytes);
  } else if (++looks < kMostLooks) {
    return visit_next_allocation();
  }
  __atomic_store_n(&waiting_thread, 0, __ATOMIC_RELAXED);
}

void end_window(memduel_heap_window& window) {
  publish();
  const bool called_back = waiting_thread == 0;
  waiting_thread = 0;
  window = {};
  window.net_bytes = page->live_bytes - live_at_begin;
  if (!called_back) return;
  const Scope& round = page->round;
  window.peak_bytes = round.peak_bytes - round.live_begin_bytes;
  window.allocated_bytes =
      static_cast<std::int64_t>(page->allocated_bytes - round.allocated_begin_bytes);
  window.allocations = static_cast<std::int64_t>(page->allocations - round.allocations_begin);
}

}  // namespace memduel::recorder
