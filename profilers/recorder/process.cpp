#include "process.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "counters.h"
#include "file_pages.h"
#include "hooks/hooks.h"
#include "mappings.h"
#include "proc_lines.h"
#include "resident_pages.h"
#include "sampler.h"
#include "snapshot.h"
#include "stacks/loaded_objects.h"
#include "trace.h"

namespace memduel::recorder {

namespace {

constexpr std::uintptr_t kLastPass = 4;  // PTHREAD_DESTRUCTOR_ITERATIONS of glibc

pthread_key_t thread_key;
bool thread_key_made = false;
std::uint32_t thread_count = 0;
bool recording = false;
std::int64_t live_at_fork = 0;

// Other keys' destructors free memory too: asking to be called again until the last pass comes
// after them. What a thread frees later still is published at once.
void on_thread_exit(void* pass) {
  const auto number = reinterpret_cast<std::uintptr_t>(pass);
  if (number < kLastPass) {
    pthread_setspecific(thread_key, reinterpret_cast<void*>(number + 1));
    return;
  }
  const Busy busy;
  tls.leaving = true;
  publish();
}

// The thread may itself be in the middle of what it would have to wait for.
void before_fork() {
  tls.fork_interrupts = tls.busy;
  if (tls.fork_interrupts) return;
  tls.busy = true;
  tls.forks_as_first = raw_syscall(SYS_gettid) == raw_syscall(SYS_getpid);
  publish();
  live_at_fork = __atomic_load_n(&page->live_bytes, __ATOMIC_RELAXED);
  hold_mappings_for_fork();
}

void after_fork_in_parent() {
  if (tls.fork_interrupts) return;
  release_mappings_after_fork(false);
  tls.busy = false;
}

void stop_recording_in_child() {
  recording = false;
  stop_trace_in_child();
  leave_page_after_fork();
  install_off();
}

void after_fork_in_child() {
  note_recorded_process();
  const MappedBytes mapped = held_mapping_bytes();
  release_mappings_after_fork(true);
  restart_file_looks();
  if (tls.fork_interrupts) return stop_recording_in_child();
  if (!tls.forks_as_first) note_mapped_first_stack();
  if (!settings.follow || !reopen_page_after_fork(live_at_fork, mapped) ||
      !reopen_trace_after_fork()) {
    stop_recording_in_child();
  } else {
    show_held_mappings();
  }
  tls.busy = false;
}

std::uint64_t parse_number(const char* text) {
  return text == nullptr ? 0 : read_decimal(text);
}

bool read_settings() {
  const char* directory = getenv(kDirectoryVariable);
  if (directory == nullptr || directory[0] != '/' ||
      strlen(directory) >= sizeof settings.directory) {
    return false;
  }
  strcpy(settings.directory, directory);
  const char* mode = getenv(kModeVariable);
  for (const Mode traced : {Mode::sampled, Mode::exact})
    if (mode != nullptr && strcmp(mode, mode_word(traced)) == 0) settings.mode = traced;
  const std::uint64_t interval = parse_number(getenv(kIntervalVariable));
  if (interval > 0) settings.interval_bytes = interval;
  settings.first_interval_bytes = parse_number(getenv(kFirstIntervalVariable));
  settings.seed = parse_number(getenv(kSeedVariable));
  const char* follow = getenv(kFollowVariable);
  settings.follow = follow == nullptr || follow[0] != '0';
  read_snapshot_rule();
  return true;
}

// So that programs which the process executes run without the recorder. Other libraries of the
// list stay; the list is edited in place, because setenv allocates.
void leave_preload_list() {
  char* list = getenv("LD_PRELOAD");
  if (list == nullptr) return;
  constexpr const char* kName = "libmemduel_recorder.so";
  char* out = list;
  for (char* at = list; *at != '\0';) {
    char* end = at + strcspn(at, ": ");
    const char kept = *end;
    *end = '\0';
    const bool ours = strstr(at, kName) != nullptr;
    *end = kept;
    if (!ours) {
      if (out != list) *out++ = ':';
      const auto length = static_cast<std::size_t>(end - at);
      memmove(out, at, length);
      out += length;
    }
    at = kept == '\0' ? end : end + 1;
  }
  *out = '\0';
}

void start_recording() {
  note_recorded_process();
  thread_key_made = pthread_key_create(&thread_key, on_thread_exit) == 0;
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  recording = true;
  install_recording();
  // What was allocated before now was counted by a thread without a key and without a draw.
  publish();
  page->threads = 0;
  tls.id = 0;
  tls.left = 0;
  tls.granted = 0;
  tls.until_sample = 0;
}

// Registered before all others and without a library, and so called after all libraries'
// destructors.
void stop(int /*status*/, void* /*argument*/) {
  if (!recording) return;
  if (tls.busy) stop_looking();  // a signal handler that interrupted the recorder, and its locks
  const Busy busy;
  tls.leaving = true;  // what is freed from here on is published at once
  finish_image();
}

// Linked to be initialised first, so that what other libraries' constructors allocate has stacks;
// that is before libc's own constructor has set the environment.
__attribute__((constructor(101))) void start(int /*count*/, char** /*arguments*/,
                                             char** environment) {
  if (environ == nullptr) environ = environment;
  leave_early();
  find_ways_out();
  look_up_find_object();
  const Busy busy;
  if (!read_settings()) return install_off();
  if (raw_syscall(SYS_prctl, PR_GET_SECCOMP) != 0) stop_looking();
  if (!settings.follow) leave_preload_list();
  if (settings.seed == 0) settings.seed = now_ns();
  if (!open_page()) return install_off();
  if (settings.mode != Mode::count && !open_trace()) {
    settings.mode = Mode::count;
    page->mode = Mode::count;
  }
  start_recording();
  on_exit(stop, nullptr);
}

}  // namespace

void start_thread() {
  const KeepErrno keep;
  tls.id = __atomic_add_fetch(&thread_count, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&page->threads, 1, __ATOMIC_RELAXED);
  seed_thread(settings.seed, tls.id);
  tls.until_sample = draw_interval();
  if (thread_key_made && recording) pthread_setspecific(thread_key, reinterpret_cast<void*>(1));
}

void count_privately() {
  if (recording) return;
  settings.mode = Mode::count;
  settings.follow = false;
  start_recording();
}

bool is_recording() {
  return recording;
}

void resume_image() {
  if (!recording || raw_syscall(SYS_getpid) != page->pid) return;
  __atomic_store_n(&page->ended_ns, 0, __ATOMIC_RELAXED);
  __atomic_fetch_and(&page->flags, ~(kFinished | kReplaced | kLeftBehind | kShutOut),
                     __ATOMIC_RELEASE);
}

void tell_what_is_lost(bool names_recorder) {
  if (!recording || !settings.follow) return;
  if (!names_recorder) __atomic_fetch_or(&page->flags, kLeftBehind, __ATOMIC_RELEASE);
  const long writable =
      raw_syscall(SYS_faccessat2, AT_FDCWD, reinterpret_cast<long>(settings.directory), W_OK | X_OK,
                  AT_EACCESS);
  if (writable == -EACCES) __atomic_fetch_or(&page->flags, kShutOut, __ATOMIC_RELEASE);
}

void finish_image(bool executes) {
  if (!recording || raw_syscall(SYS_getpid) != page->pid) return;
  look_at_end();
  look_at_last_mappings();
  look_at_last_files();
  finish_page(executes ? kFinished | kReplaced : kFinished);
  flush_trace();
}

}  // namespace memduel::recorder
