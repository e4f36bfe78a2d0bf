// The files of a process in /proc: who runs (stat), what is resident (statm, status, smaps_rollup),
// what is mapped (maps), how it was called (cmdline, environ) and its children. The functions
// parse_… take any text and open nothing.
#pragma once

#include <sys/types.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace memduel {

/// What was read; else why it was not: `error`, an errno for which the file could not be read, or
/// 0 where the file was read and does not say it (a thread of the kernel has no VmRSS).
template <class Value>
struct ProcResult : std::optional<Value> {
  ProcResult(std::optional<Value> value, int error_number)
      : std::optional<Value>(std::move(value)), error(this->has_value() ? 0 : error_number) {}

  int error = 0;

  /// The process has ended and nobody has its number, or /proc hides it.
  [[nodiscard]] bool is_gone() const { return error == ENOENT || error == ESRCH; }
};

/// For people: the system's words, or "not the expected text" for 0.
std::string describe_proc_error(int error);

/// A file of /proc that is opened when first read and kept open: a statm takes 1.2 us, and 4 where
/// it is opened each time. Reading allocates nothing. Not for several threads at once.
class ProcFile {
 public:
  /// Whatever is longer is cut off; the files about one process that are called here are not.
  using Buffer = std::array<char, 8192>;
  /// The text is in the buffer that it was read into.
  struct Text {
    std::string_view text;
    int error = 0;  ///< an errno; the text is empty then
  };

  explicit ProcFile(std::string path) : path_(std::move(path)) {}
  /// @param pid or kSelf
  ProcFile(pid_t pid, const char* name);
  ProcFile(const ProcFile&) = delete;
  ProcFile& operator=(const ProcFile&) = delete;
  ~ProcFile();

  /// As it is now, from its beginning.
  Text read(Buffer& buffer);

  /// What `parse` finds in it.
  template <class Parse>
  auto read(Parse parse)
      -> ProcResult<typename std::invoke_result_t<Parse, std::string_view>::value_type> {
    Buffer buffer;
    const Text now = read(buffer);
    return {parse(now.text), now.error};
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// The caller itself: /proc/self is right even where /proc is another PID namespace's.
inline constexpr pid_t kSelf = 0;

struct FaultCounts {
  std::int64_t minor = 0;
  std::int64_t major = 0;
};

/// Addresses in a process.
struct AddressSpan {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool operator==(const AddressSpan&) const = default;
};

struct ProcessLine {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';  ///< as in /proc/PID/stat; Z and X are dead
  /// Clock ticks after boot: with the number it tells a process from another that got the number
  /// later. Absent when the line ends before it, as the next three.
  std::optional<std::uint64_t> started = std::nullopt;
  std::optional<std::uint64_t> flags = std::nullopt;  ///< PF_… of the kernel
  std::optional<FaultCounts> faults = std::nullopt;   ///< of the whole process
  /// Of its arguments: a program that is executed has them at another, random place. 0 for a zombie
  /// and for processes whose memory the reader may not see.
  std::optional<AddressSpan> arguments = std::nullopt;
};

bool is_dead(const ProcessLine& process);

/// Whether it has executed no program since it was forked: its pages are its parent's until it
/// writes to them.
bool is_only_forked(const ProcessLine& process);

/// Whether two processes have one address space: a child of vfork() until it executes a program,
/// and one of clone(CLONE_VM). False where the kernel does not tell (no kcmp, or not allowed).
bool share_memory(pid_t one, pid_t other);

/// Whether both are of one process that executed no program in between.
bool runs_same_program(const ProcessLine& before, const ProcessLine& now);

/// Of stat; absent when it is no such line. The command name in it may hold anything.
std::optional<ProcessLine> parse_process_line(std::string_view stat);
ProcResult<ProcessLine> process_line(pid_t pid);

/// Of statm; all are 0 for a zombie and for a thread of the kernel.
struct ProcessPages {
  std::int64_t total = 0;  ///< of its address space
  std::int64_t resident = 0;
  std::int64_t shared = 0;  ///< of them, those that a file or shared memory is behind
  [[nodiscard]] std::int64_t anonymous() const { return resident > shared ? resident - shared : 0; }
};
std::optional<ProcessPages> parse_statm(std::string_view statm);
ProcResult<ProcessPages> process_pages(pid_t pid);

/// Bytes, of status.
struct ProcessMemory {
  std::optional<std::int64_t> rss;        ///< VmRSS
  std::optional<std::int64_t> peak_rss;   ///< VmHWM
  std::optional<std::int64_t> rss_anon;   ///< RssAnon, from Linux 4.5 as the next two
  std::optional<std::int64_t> rss_file;   ///< RssFile
  std::optional<std::int64_t> rss_shmem;  ///< RssShmem
  std::optional<std::int64_t> swapped;    ///< VmSwap
};
/// Absent where the text has none of them: zombies and threads of the kernel have no memory.
std::optional<ProcessMemory> parse_status(std::string_view status);
ProcResult<ProcessMemory> process_memory(pid_t pid);

/// The signals that a process has a handler for, of status: bit N - 1 for signal N.
std::optional<std::uint64_t> parse_caught_signals(std::string_view status);
/// False where it is not known.
bool catches_signal(pid_t pid, int number);

/// The proportional set in bytes, of smaps_rollup.
std::optional<std::int64_t> parse_pss(std::string_view smaps_rollup);

/// A line of maps: "7f01-7f02 r-xp 1000 08:01 42   /lib/x.so". Only [begin, end) that is not empty.
struct MappedRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  ///< in the file
  bool executable = false;
  std::string_view path;  ///< or "[heap]"; empty for anonymous memory
};
std::optional<MappedRange> parse_maps_line(std::string_view line);

/// The value of a variable in environ, of its first entry.
std::optional<std::string> parse_variable(std::string_view environ, std::string_view name);
/// In the environment that `pid` was started with.
ProcResult<std::string> environment_of(pid_t pid, std::string_view variable);

/// Of cmdline, without the empty ones at its end that a title leaves which a program gave itself.
std::vector<std::string> parse_arguments(std::string_view cmdline);
/// None when it is gone, and for a thread of the kernel.
std::vector<std::string> arguments_of(pid_t pid);
/// The same joined by spaces, of at most `longest` bytes.
std::string command_of(pid_t pid, std::size_t longest = 200);

/// Numbers of processes between white space, as in a list of children or cgroup.procs: those before
/// anything else, without 0, which is one of another namespace.
std::vector<pid_t> parse_pids(std::string_view list);

/// Every process that can be seen, dead ones included.
std::vector<ProcessLine> all_processes();
/// Those of the kernel's lists of each thread's children (CONFIG_PROC_CHILDREN), dead ones, too.
/// One that ends while a list is read may hide its neighbour until the next time.
std::vector<ProcessLine> children_of(pid_t parent);
/// Empty when it is gone.
std::vector<pid_t> threads_of(pid_t pid);

/// The number that the kernel gave out last, of /proc/loadavg.
std::optional<pid_t> parse_last_pid(std::string_view loadavg);

}  // namespace memduel
