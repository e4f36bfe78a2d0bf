// The program's own anonymous mappings: a heap of their own, named `mapping`. CPython's arenas come
// through mmap64. Mappings that the allocator makes are part of its blocks and not counted.
#include <sys/mman.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstdarg>

#include "counters.h"
#include "file_pages.h"
#include "mappings.h"
#include "next.h"
#include "snapshot.h"

namespace memduel::recorder {

namespace {

bool from_allocator(const void* caller) {
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  return at >= next.module_begin && at < next.module_end;
}

bool is_allocators(const void* caller) {
  return from_allocator(caller) || inside_allocator(__builtin_frame_address(0));
}

bool counts_mappings(const void* caller) {
  return !tls.busy && !is_allocators(caller);
}

bool keeps_allocators(const void* caller) {
  return may_take_snapshots() && is_allocators(caller);
}

// Busy, where the thread may be so already: an allocator maps in the middle of a visit, too.
class Nested {
 public:
  Nested() : was_(tls.busy) { tls.busy = true; }
  ~Nested() { tls.busy = was_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  bool was_;
};

void* map(void* wanted, std::size_t length, int protection, int flags, int fd, off_t offset,
          const void* caller) {
  if ((flags & MAP_FIXED) != 0 && counts_mappings(caller)) {
    const Busy busy;
    look_before_unmapping(wanted, length);
  }
  const long at = raw_syscall(SYS_mmap, reinterpret_cast<long>(wanted), static_cast<long>(length),
                              protection, flags, fd, offset);
  if (at < 0 && at > -4096) {
    errno = static_cast<int>(-at);
    return MAP_FAILED;
  }
  auto* mapped = reinterpret_cast<void*>(at);
  // A fixed mapping replaces what was there.
  if (counts_mappings(caller)) {
    const Busy busy;
    if ((flags & MAP_ANONYMOUS) != 0) {
      protection != PROT_NONE ? remember_mapping(mapped, length)
                              : remember_reservation(mapped, length);
    } else if ((flags & MAP_FIXED) != 0) {
      forget_mapping(mapped, length);
    }
  } else if (keeps_allocators(caller) && (flags & MAP_ANONYMOUS) != 0) {
    const Nested nested;
    remember_allocator_mapping(mapped, length);
  }
  return mapped;
}

// What is closed to the program counts no more, whatever it holds.
void look_before_protection(void* at, std::size_t length, int protection, const void* caller) {
  if (protection != PROT_NONE || !counts_mappings(caller)) return;
  const Busy busy;
  look_before_unmapping(at, length);
}

int note_protection(long status, void* at, std::size_t length, int protection, const void* caller) {
  if (status != 0) {
    errno = static_cast<int>(-status);
    return -1;
  }
  if (counts_mappings(caller)) {
    const Busy busy;
    protection != PROT_NONE ? open_reservation(at, length) : close_mapping(at, length);
  }
  return 0;
}

}  // namespace

}  // namespace memduel::recorder

using memduel::recorder::raw_syscall;

#define MEMDUEL_EXPORT extern "C" __attribute__((visibility("default")))

MEMDUEL_EXPORT void* mmap(void* wanted, std::size_t length, int protection, int flags, int fd,
                          off_t offset) noexcept {
  return memduel::recorder::map(wanted, length, protection, flags, fd, offset,
                                __builtin_return_address(0));
}

MEMDUEL_EXPORT void* mmap64(void* wanted, std::size_t length, int protection, int flags, int fd,
                            off64_t offset) noexcept {
  return memduel::recorder::map(wanted, length, protection, flags, fd, offset,
                                __builtin_return_address(0));
}

// Before a filter of system calls is installed.
MEMDUEL_EXPORT int prctl(int option, ...) {
  va_list rest;
  va_start(rest, option);
  long words[4];
  for (long& word : words) word = va_arg(rest, long);
  va_end(rest);
  if (option == PR_SET_NO_NEW_PRIVS || option == PR_SET_SECCOMP) memduel::recorder::stop_looking();
  const long status = raw_syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]);
  if (status >= 0) return static_cast<int>(status);
  errno = static_cast<int>(-status);
  return -1;
}

MEMDUEL_EXPORT int madvise(void* at, std::size_t length, int advice) noexcept {
  using namespace memduel::recorder;
  const bool gives_back = advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE;
  if (gives_back && counts_mappings(__builtin_return_address(0))) {
    const Busy busy;
    look_before_unmapping(at, length);
  }
  const long status =
      raw_syscall(SYS_madvise, reinterpret_cast<long>(at), static_cast<long>(length), advice);
  if (status == 0) return 0;
  errno = static_cast<int>(-status);
  return -1;
}

MEMDUEL_EXPORT int mprotect(void* at, std::size_t length, int protection) noexcept {
  memduel::recorder::look_before_protection(at, length, protection, __builtin_return_address(0));
  return memduel::recorder::note_protection(
      raw_syscall(SYS_mprotect, reinterpret_cast<long>(at), static_cast<long>(length), protection),
      at, length, protection, __builtin_return_address(0));
}

MEMDUEL_EXPORT int pkey_mprotect(void* at, std::size_t length, int protection, int key) noexcept {
  memduel::recorder::look_before_protection(at, length, protection, __builtin_return_address(0));
  return memduel::recorder::note_protection(
      key == -1  // as glibc does, for kernels without keys
          ? raw_syscall(SYS_mprotect, reinterpret_cast<long>(at), static_cast<long>(length),
                        protection)
          : raw_syscall(SYS_pkey_mprotect, reinterpret_cast<long>(at), static_cast<long>(length),
                        protection, key),
      at, length, protection, __builtin_return_address(0));
}

MEMDUEL_EXPORT int munmap(void* at, std::size_t length) noexcept {
  using namespace memduel::recorder;
  const void* caller = __builtin_return_address(0);
  if (counts_mappings(caller)) {
    const Busy busy;
    look_before_loss(static_cast<std::int64_t>(length));
    look_before_unmapping(at, length);
    if (forget_mapping(at, length) == 0) look_at_files_before_unmapping(length);
  } else if (keeps_allocators(caller)) {
    const Nested nested;
    forget_allocator_mapping(at, length);
  }
  const long status =
      raw_syscall(SYS_munmap, reinterpret_cast<long>(at), static_cast<long>(length));
  if (status == 0) return 0;
  errno = static_cast<int>(-status);
  return -1;
}

MEMDUEL_EXPORT void* mremap(void* old, std::size_t old_length, std::size_t new_length, int flags,
                            ...) noexcept {
  using namespace memduel::recorder;
  va_list rest;
  va_start(rest, flags);
  void* wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : nullptr;
  va_end(rest);
  const bool counted = counts_mappings(__builtin_return_address(0));
  if (counted && new_length < old_length) {
    const Busy busy;
    look_before_unmapping(old, old_length);
  }
  const long at =
      raw_syscall(SYS_mremap, reinterpret_cast<long>(old), static_cast<long>(old_length),
                  static_cast<long>(new_length), flags, reinterpret_cast<long>(wanted));
  if (at < 0 && at > -4096) {
    errno = static_cast<int>(-at);
    return MAP_FAILED;
  }
  if (counted) {
    const Busy busy;
    const bool known = forget_mapping(old, old_length) > 0;
    if (known) {
      remember_mapping(reinterpret_cast<void*>(at), new_length);
    } else if ((flags & MREMAP_FIXED) != 0) {
      forget_mapping(reinterpret_cast<void*>(at), new_length);
    }
  }
  return reinterpret_cast<void*>(at);
}
