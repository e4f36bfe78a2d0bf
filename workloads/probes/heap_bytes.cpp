#include "workloads/probes/heap_bytes.h"

#include <dlfcn.h>
#include <malloc.h>

namespace memduel {
namespace {

/// Whether malloc is glibc's own: a preloaded allocator leaves mallinfo2 with numbers about
/// nothing.
bool malloc_is_glibcs() {
  Dl_info of_malloc{};
  Dl_info of_mallinfo{};
  return dladdr(reinterpret_cast<void*>(&malloc), &of_malloc) != 0 &&
         dladdr(reinterpret_cast<void*>(&mallinfo2), &of_mallinfo) != 0 &&
         of_malloc.dli_fbase == of_mallinfo.dli_fbase;
}

}  // namespace

std::optional<HeapBytes> heap_bytes() {
  static const bool ours = malloc_is_glibcs();
  if (!ours) return std::nullopt;
  const struct mallinfo2 info = mallinfo2();
  return HeapBytes{static_cast<std::int64_t>(info.uordblks + info.hblkhd),
                   static_cast<std::int64_t>(info.fordblks)};
}

}  // namespace memduel
