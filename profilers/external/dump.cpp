// Preloaded beside the profiler of another tool: has it write what it holds when a round ends and
// when the program does, under names that say which process image and which round it was
// (dump_format.h).
//
// The tools name their files by process, and a process that executes another program, or a forked
// child, would write over them. Like the recorder this runs inside somebody else's process: no C++
// runtime, nothing allocated, no thread-local state.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "dump_format.h"
#include "memduel/annotate.h"

namespace {

using namespace memduel;

/// A path or a command, put together in place. One that does not fit is empty.
class Text {
 public:
  Text& add(const char* text) {
    const std::size_t length = strlen(text);
    whole_ = whole_ && length < sizeof bytes_ - length_;
    if (!whole_) length_ = 0;
    if (whole_) memcpy(bytes_ + length_, text, length);
    if (whole_) length_ += length;
    bytes_[length_] = '\0';
    return *this;
  }
  Text& add(std::uint64_t number, std::size_t least_digits = 1) {
    char digits[24];
    std::size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do {
      digits[--at] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (at > 0 && (number != 0 || sizeof digits - 1 - at < least_digits));
    return add(digits + at);
  }
  [[nodiscard]] const char* get() const { return bytes_; }
  [[nodiscard]] char* get() { return bytes_; }

 private:
  char bytes_[4096] = {};
  std::size_t length_ = 0;
  bool whole_ = true;
};

/// How one tool is driven. Any may be null.
struct Tool {
  const char* name;
  void (*begin)();
  void (*dump)(const char* file);  ///< what it holds now
  void (*end)();                   ///< at exit, before the tool's own destructors
};

const Tool* tool = nullptr;
char directory[3072];
pid_t image_pid = 0;  ///< of the process that loaded us, not of its forked children
std::uint64_t started_ns = 0;
std::atomic_flag dumping = ATOMIC_FLAG_INIT;

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

Text image_file() {
  Text file;
  file.add(directory).add("/").add(started_ns).add("-").add(static_cast<std::uint64_t>(getpid()));
  return file;
}

template <typename Function>
Function find(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

constexpr std::size_t kMostVariables = 4096;
char* variables[kMostVariables + 1];
Text next_preload;
Text next_output;

bool is_variable(const char* variable, const char* name) {
  const std::size_t length = strlen(name);
  return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

// setenv would allocate, in the profile of the program.
void replace_environment() {
  std::size_t count = 0;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (is_variable(*variable, "LD_PRELOAD") || is_variable(*variable, "DUMP_HEAPTRACK_OUTPUT"))
      continue;
    if (count + 2 >= kMostVariables) return;
    variables[count++] = *variable;
  }
  variables[count++] = next_preload.get();
  variables[count++] = next_output.get();
  variables[count] = nullptr;
  environ = variables;
}

// heaptrack takes itself out of the environment when it starts, which is at the first call of its
// functions. Put back, programs that this one executes are recorded, too, each to a file of its
// own.
void begin_heaptrack() {
  void* volatile nothing = nullptr;
  free(nothing);
  const char* preload = getenv(kDumpedPreload);
  if (preload == nullptr) return;
  next_preload.add("LD_PRELOAD=").add(preload);
  next_output.add("DUMP_HEAPTRACK_OUTPUT=");
  next_output.add(directory).add("/").add(now_ns()).add("-$$");
  replace_environment();
}

std::uint64_t gperftools_dumps = 0;

void begin_gperftools() {
  if (const auto start = find<void (*)(const char*)>("HeapProfilerStart"))
    start(image_file().add(".tool").get());
}

// The tool numbers its dumps itself; the next one is seldom not the next number. Its own dump at
// exit is older than ours. A forked child has its parent's count, and would write to its parent's
// files.
void dump_gperftools(const char* file) {
  constexpr std::uint64_t kLookAhead = 16;
  const auto dump = find<void (*)(const char*)>("HeapProfilerDump");
  if (dump == nullptr || getpid() != image_pid) return;
  dump("memduel");
  for (std::uint64_t next = gperftools_dumps + 1; next <= gperftools_dumps + kLookAhead; ++next) {
    Text written = image_file();
    written.add(".tool.").add(next, 4).add(".heap");
    if (rename(written.get(), file) == 0) gperftools_dumps = next;
  }
}

// Without it the tool dumps in its destructor, to a file of the parent's.
void end_gperftools_child() {
  const auto stop = find<void (*)()>("HeapProfilerStop");
  if (stop != nullptr && getpid() != image_pid) stop();
}

void dump_jemalloc(const char* file) {
  using Control = int (*)(const char*, void*, size_t*, void*, size_t);
  if (const auto control = find<Control>("mallctl"))
    control("prof.dump", nullptr, nullptr, &file, sizeof file);
}

constexpr Tool kTools[] = {
    {"heaptrack", begin_heaptrack, nullptr, nullptr},
    {"gperftools", begin_gperftools, dump_gperftools, end_gperftools_child},
    {"jemalloc", nullptr, dump_jemalloc, nullptr},
};

void dump_to(const Text& file) {
  if (tool->dump == nullptr || dumping.test_and_set(std::memory_order_acquire)) return;
  const int saved_errno = errno;
  tool->dump(file.get());
  errno = saved_errno;
  dumping.clear(std::memory_order_release);
}

// Registered without a library, and so called after all libraries' destructors: what they free is
// no longer live.
void dump_end(int /*status*/, void* /*argument*/) {
  dump_to(image_file());
}

void begin_child() {
  dumping.clear();
}

[[gnu::constructor]] void begin() {
  const char* name = getenv(kDumpedTool);
  const char* where = getenv(kDumpDirectory);
  if (name == nullptr || where == nullptr || strlen(where) >= sizeof directory) return;
  for (const Tool& one : kTools)
    if (strcmp(name, one.name) == 0) tool = &one;
  if (tool == nullptr) return;
  strcpy(directory, where);
  image_pid = getpid();
  started_ns = now_ns();
  if (tool->begin != nullptr) tool->begin();
  pthread_atfork(nullptr, nullptr, begin_child);
  if (tool->end != nullptr) atexit(tool->end);
  on_exit(dump_end, nullptr);
}

}  // namespace

/// Called by annotate.h at every mark.
extern "C" __attribute__((visibility("default"))) void memduel_recorder_mark(
    int kind, int round, const char* /*phase*/) {
  if (tool == nullptr || kind != MEMDUEL_MARK_ROUND_END) return;
  Text file = image_file();
  dump_to(file.add(memduel::kDumpRound).add(static_cast<std::uint64_t>(round < 0 ? 0 : round)));
}
