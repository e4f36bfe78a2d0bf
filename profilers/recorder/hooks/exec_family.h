// The members of the exec family that only arrange their arguments, for a preloaded library that
// defines execve and execvpe itself. Included once, by the file that does.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#define MEMDUEL_EXPORT extern "C" __attribute__((visibility("default")))

namespace memduel::exec_family {

constexpr int kMostArguments = 1024;

struct List {
  const char* arguments[kMostArguments];
  bool fits;

  [[nodiscard]] char* const* argv() const { return const_cast<char* const*>(arguments); }
};

/// The arguments of execl and its like, up to and with the terminating null pointer.
inline void collect(List& list, const char* first, va_list rest) {
  int count = 0;
  for (const char* argument = first;; argument = va_arg(rest, const char*)) {
    list.arguments[count++] = argument;
    list.fits = argument == nullptr;
    if (list.fits || count == kMostArguments) return;
  }
}

inline int too_many() {
  errno = E2BIG;
  return -1;
}

}  // namespace memduel::exec_family

MEMDUEL_EXPORT int execv(const char* path, char* const* argv) noexcept {
  return execve(path, argv, environ);
}

MEMDUEL_EXPORT int execvp(const char* file, char* const* argv) noexcept {
  return execvpe(file, argv, environ);
}

MEMDUEL_EXPORT int execl(const char* path, const char* first, ...) noexcept {
  memduel::exec_family::List list;
  va_list rest;
  va_start(rest, first);
  collect(list, first, rest);
  va_end(rest);
  return list.fits ? execv(path, list.argv()) : memduel::exec_family::too_many();
}

MEMDUEL_EXPORT int execlp(const char* file, const char* first, ...) noexcept {
  memduel::exec_family::List list;
  va_list rest;
  va_start(rest, first);
  collect(list, first, rest);
  va_end(rest);
  return list.fits ? execvp(file, list.argv()) : memduel::exec_family::too_many();
}

MEMDUEL_EXPORT int execle(const char* path, const char* first, ...) noexcept {
  memduel::exec_family::List list;
  va_list rest;
  va_start(rest, first);
  collect(list, first, rest);
  char* const* environment = list.fits ? va_arg(rest, char* const*) : nullptr;
  va_end(rest);
  return list.fits ? execve(path, list.argv(), environment) : memduel::exec_family::too_many();
}
