// The ways out of a process image that run no exit handlers, and the marks' entry point.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "counters.h"
#include "exec_family.h"
#include "memduel/annotate.h"
#include "next.h"
#include "process.h"
#include "snapshot.h"
#include "stacks/unwind.h"
#include "trace.h"
#include "window.h"

namespace memduel::recorder {

namespace {

// Looked up before main: the dynamic linker's lock may be held by a thread that a forked child
// lost.
struct LookedUp {
  decltype(&execvpe) by_path_with_environment;
  decltype(&fexecve) by_descriptor;
  decltype(&quick_exit) quick;
  decltype(&exit) normal;
  decltype(&abort) abnormal;
  decltype(&dlclose) close_library;
};
LookedUp looked_up;

void finish_quietly(bool executes = false) {
  if (tls.busy) return;  // a signal handler that interrupted the recorder
  const Busy busy;
  finish_image(executes);
}

/// Whether the program that is executed with it will be recorded.
bool names_recorder(char* const* environment) {
  constexpr std::size_t kLength = sizeof kDirectoryVariable - 1;
  for (; environment != nullptr && *environment != nullptr; ++environment)
    if (std::strncmp(*environment, kDirectoryVariable, kLength) == 0 &&
        (*environment)[kLength] == '=')
      return true;
  return false;
}

void finish_before(char* const* environment) {
  if (tls.busy) return;
  finish_quietly(true);
  tell_what_is_lost(names_recorder(environment));
}

int failed(long result) {
  if (!tls.busy) resume_image();
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace

void find_ways_out() {
  looked_up.by_path_with_environment =
      reinterpret_cast<decltype(looked_up.by_path_with_environment)>(dlsym(RTLD_NEXT, "execvpe"));
  looked_up.by_descriptor =
      reinterpret_cast<decltype(looked_up.by_descriptor)>(dlsym(RTLD_NEXT, "fexecve"));
  looked_up.normal = reinterpret_cast<decltype(looked_up.normal)>(dlsym(RTLD_NEXT, "exit"));
  looked_up.quick = reinterpret_cast<decltype(looked_up.quick)>(dlsym(RTLD_NEXT, "quick_exit"));
  looked_up.close_library =
      reinterpret_cast<decltype(looked_up.close_library)>(dlsym(RTLD_NEXT, "dlclose"));
  looked_up.abnormal = reinterpret_cast<decltype(looked_up.abnormal)>(dlsym(RTLD_NEXT, "abort"));
}

void (*exit_function())(int) {
  return looked_up.normal;
}

}  // namespace memduel::recorder

using memduel::recorder::failed;
using memduel::recorder::finish_before;
using memduel::recorder::finish_quietly;
using memduel::recorder::looked_up;
using memduel::recorder::raw_syscall;
using memduel::recorder::resume_image;

MEMDUEL_EXPORT void _exit(int status) {
  finish_quietly();
  raw_syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

MEMDUEL_EXPORT void _Exit(int status) noexcept {
  _exit(status);
}

MEMDUEL_EXPORT void quick_exit(int status) noexcept {
  finish_quietly();
  looked_up.quick(status);
  __builtin_unreachable();
}

MEMDUEL_EXPORT void abort() noexcept {
  finish_quietly();
  looked_up.abnormal();
  __builtin_unreachable();
}

MEMDUEL_EXPORT int execve(const char* path, char* const* argv, char* const* environment) noexcept {
  finish_before(environment);
  return failed(raw_syscall(SYS_execve, reinterpret_cast<long>(path), reinterpret_cast<long>(argv),
                            reinterpret_cast<long>(environment)));
}

MEMDUEL_EXPORT int execvpe(const char* file, char* const* argv, char* const* environment) noexcept {
  finish_before(environment);
  const int status = looked_up.by_path_with_environment(file, argv, environment);
  resume_image();
  return status;
}

MEMDUEL_EXPORT int fexecve(int fd, char* const* argv, char* const* environment) noexcept {
  finish_before(environment);
  const int status = looked_up.by_descriptor(fd, argv, environment);
  resume_image();
  return status;
}

MEMDUEL_EXPORT int dlclose(void* library) noexcept {
  using namespace memduel::recorder;
  const int status = looked_up.close_library(library);
  if (!tls.busy && is_tracing()) {
    const Busy busy;
    trace_unload();
  }
  return status;
}

MEMDUEL_EXPORT void memduel_recorder_mark(int kind, int round, const char* phase) {
  using namespace memduel::recorder;
  if (!is_recording()) return;
  if (tls.busy) return count_lost();
  const int saved_errno = errno;
  const Busy busy;
  if (tls.id == 0) start_thread();
  if (kind == MEMDUEL_MARK_THREAD_PHASE) {
    trace_thread_phase(phase);
  } else {
    mark(kind, round, phase);
    trace_mark(kind, round, phase);
    look_at_mark(kind, round, phase);
  }
  errno = saved_errno;
}

/// For the witness: the file of the malloc that calls are passed on to.
MEMDUEL_EXPORT const char* memduel_recorder_provider() {
  return memduel::recorder::next.provider;
}

MEMDUEL_EXPORT void memduel_recorder_window_begin(int number) {
  memduel_recorder_window_begin_at_callback(number, nullptr);
}

MEMDUEL_EXPORT void memduel_recorder_window_begin_at_callback(int number, const void* frame) {
  using namespace memduel::recorder;
  {
    const Busy busy;
    count_privately();
  }
  memduel_recorder_mark(MEMDUEL_MARK_ROUND_BEGIN, number, nullptr);
  const Busy busy;
  begin_window(frame == nullptr ? 0 : registers_of_caller(frame).sp);
}

MEMDUEL_EXPORT void memduel_recorder_window_end(memduel_heap_window* window) {
  using namespace memduel::recorder;
  {
    const Busy busy;
    end_window(*window);
  }
  memduel_recorder_mark(MEMDUEL_MARK_ROUND_END, page->round.round, nullptr);
}
