#include "memory/proc_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "memory/kernel_files.h"
#include "memory/text_cursor.h"

namespace memduel {
namespace {

std::string proc_path(pid_t pid, const std::string& name) {
  return "/proc/" + (pid == kSelf ? "self" : std::to_string(pid)) + "/" + name;
}

void skip_words(TextCursor& fields, int count) {
  for (; count > 0; --count) {
    fields.word();
    fields.skip(" ");
  }
}

/// A number that is not negative; its word is skipped whatever it is.
std::optional<std::int64_t> count_at(TextCursor& fields) {
  const auto value = fields.number<std::int64_t>();
  skip_words(fields, 1);
  return value && *value >= 0 ? value : std::nullopt;
}

/// Of every entry of a directory of /proc whose name is a number.
std::vector<pid_t> numbers_in(const std::string& directory) {
  std::vector<pid_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(directory.c_str()), closedir);
  if (!entries) return numbers;
  while (const dirent* entry = readdir(entries.get())) {
    const auto number = TextCursor(entry->d_name).number<pid_t>();
    if (number && *number > 0) numbers.push_back(*number);
  }
  return numbers;
}

std::vector<ProcessLine> lines_of(const std::vector<pid_t>& pids) {
  std::vector<ProcessLine> lines;
  for (const pid_t pid : pids)
    if (const auto line = process_line(pid)) lines.push_back(*line);
  return lines;
}

}  // namespace

std::string describe_proc_error(int error) {
  return error != 0 ? std::strerror(error) : "not the expected text";
}

ProcFile::ProcFile(pid_t pid, const char* name) : path_(proc_path(pid, name)) {}

ProcFile::~ProcFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

ProcFile::Text ProcFile::read(Buffer& buffer) {
  if (descriptor_ < 0) descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) return {{}, errno};
  ssize_t got = 0;
  do {
    got = pread(descriptor_, buffer.data(), buffer.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return {{}, errno};
  return {{buffer.data(), static_cast<std::size_t>(got)}, 0};
}

bool is_dead(const ProcessLine& process) {
  return process.state == 'Z' || process.state == 'X';
}

bool is_only_forked(const ProcessLine& process) {
  constexpr std::uint64_t kForkedNoExec = 0x40;  // PF_FORKNOEXEC of the kernel
  return (process.flags.value_or(0) & kForkedNoExec) != 0;
}

bool share_memory(pid_t one, pid_t other) {
  return syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0) == 0;
}

bool runs_same_program(const ProcessLine& before, const ProcessLine& now) {
  // Of a process that one may not look into the place of the arguments is 0, before and after an
  // exec.
  return before.pid == now.pid && before.started == now.started && now.arguments &&
         now.arguments->begin != 0 && before.arguments == now.arguments &&
         is_only_forked(before) == is_only_forked(now) && is_dead(before) == is_dead(now);
}

std::optional<ProcessLine> parse_process_line(std::string_view stat) {
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string_view::npos) return std::nullopt;
  const auto pid = TextCursor(stat).number<pid_t>();
  const std::string_view from_state = stat.substr(name_end + 2);  // field 3
  TextCursor fields(from_state.substr(std::min<std::size_t>(from_state.size(), 1)));
  if (!pid || !fields.skip(" ")) return std::nullopt;
  const auto parent = fields.number<pid_t>();
  if (!parent) return std::nullopt;
  ProcessLine line{*pid, *parent, from_state.front()};
  skip_words(fields, 5);
  if (const auto flags = count_at(fields)) line.flags = static_cast<std::uint64_t>(*flags);
  const auto minor = count_at(fields);
  skip_words(fields, 1);
  const auto major = count_at(fields);
  if (minor && major) line.faults = {*minor, *major};
  skip_words(fields, 9);
  line.started = fields.number<std::uint64_t>();
  skip_words(fields, 26);
  const auto begin = count_at(fields);
  const auto end = count_at(fields);
  if (begin && end) line.arguments = {*begin, *end};
  return line;
}

ProcResult<ProcessLine> process_line(pid_t pid) {
  return ProcFile(pid, "stat").read(parse_process_line);
}

std::optional<ProcessPages> parse_statm(std::string_view statm) {
  TextCursor fields(statm);
  const auto total = count_at(fields);
  const auto resident = count_at(fields);
  const auto shared = count_at(fields);
  if (!total || !resident || !shared) return std::nullopt;
  return ProcessPages{*total, *resident, *shared};
}

ProcResult<ProcessPages> process_pages(pid_t pid) {
  return ProcFile(pid, "statm").read(parse_statm);
}

std::optional<ProcessMemory> parse_status(std::string_view status) {
  struct Field {
    std::string_view name;
    std::optional<std::int64_t> ProcessMemory::* bytes;
  };
  constexpr std::array<Field, 6> kFields = {{{"VmHWM", &ProcessMemory::peak_rss},
                                             {"VmRSS", &ProcessMemory::rss},
                                             {"RssAnon", &ProcessMemory::rss_anon},
                                             {"RssFile", &ProcessMemory::rss_file},
                                             {"RssShmem", &ProcessMemory::rss_shmem},
                                             {"VmSwap", &ProcessMemory::swapped}}};
  ProcessMemory memory;
  bool any = false;
  std::array<bool, kFields.size()> seen{};
  std::size_t unseen = seen.size();
  while (!status.empty() && unseen > 0) {
    const std::size_t end = std::min(status.find('\n'), status.size());
    const std::string_view line = status.substr(0, end);
    const std::string_view key = line.substr(0, line.find(':'));
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      const auto& [name, bytes] = kFields[i];
      if (key != name || key.size() == line.size() || std::exchange(seen[i], true)) continue;
      --unseen;
      memory.*bytes = size_in(line.substr(key.size() + 1));
      any = any || memory.*bytes;
    }
    status.remove_prefix(std::min(end + 1, status.size()));
  }
  return any ? std::optional(memory) : std::nullopt;
}

ProcResult<ProcessMemory> process_memory(pid_t pid) {
  return ProcFile(pid, "status").read(parse_status);
}

std::optional<std::uint64_t> parse_caught_signals(std::string_view status) {
  constexpr std::string_view kKey = "\nSigCgt:\t";
  constexpr int kHexadecimal = 16;
  const std::size_t key = status.find(kKey);
  if (key == std::string_view::npos) return std::nullopt;
  const std::string_view rest = status.substr(key + kKey.size());
  std::uint64_t signals = 0;
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), signals, kHexadecimal);
  const bool is_whole = error == std::errc{} && end != rest.data() + rest.size() && *end == '\n';
  return is_whole ? std::optional(signals) : std::nullopt;
}

bool catches_signal(pid_t pid, int number) {
  const auto signals = ProcFile(pid, "status").read(parse_caught_signals);
  return signals && ((*signals >> (number - 1)) & 1) != 0;
}

std::optional<std::int64_t> parse_pss(std::string_view smaps_rollup) {
  return sized_field(smaps_rollup, "Pss");
}

std::optional<MappedRange> parse_maps_line(std::string_view line) {
  TextCursor words(line);
  const auto begin = words.number<std::uint64_t>(16);
  if (!begin || !words.skip("-")) return std::nullopt;
  const auto end = words.number<std::uint64_t>(16);
  if (!end || *end <= *begin || !words.skip(" ")) return std::nullopt;
  const bool executable = words.word().find('x') != std::string_view::npos;
  if (!words.skip(" ")) return std::nullopt;
  const auto offset = words.number<std::uint64_t>(16);
  if (!offset || !words.skip(" ")) return std::nullopt;
  words.word();  // device
  words.skip_spaces();
  words.word();  // inode
  words.skip_spaces();
  return MappedRange{*begin, *end, *offset, executable, words.rest()};
}

std::optional<std::string> parse_variable(std::string_view environ, std::string_view name) {
  while (!environ.empty()) {
    const std::size_t end = std::min(environ.find('\0'), environ.size());
    const std::string_view entry = environ.substr(0, end);
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('='))
      return std::string(entry.substr(name.size() + 1));
    environ.remove_prefix(std::min(end + 1, environ.size()));
  }
  return std::nullopt;
}

ProcResult<std::string> environment_of(pid_t pid, std::string_view variable) {
  const KernelText environ = read_kernel_file(proc_path(pid, "environ"));
  return {parse_variable(environ.text, variable), environ.error};
}

std::vector<std::string> parse_arguments(std::string_view cmdline) {
  while (cmdline.ends_with('\0')) cmdline.remove_suffix(1);
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < cmdline.size();) {
    const std::size_t end = std::min(cmdline.find('\0', at), cmdline.size());
    arguments.emplace_back(cmdline.substr(at, end - at));
    at = end + 1;
  }
  return arguments;
}

std::vector<std::string> arguments_of(pid_t pid) {
  return parse_arguments(text_of(proc_path(pid, "cmdline")));
}

std::string command_of(pid_t pid, std::size_t longest) {
  const std::string cmdline = text_of(proc_path(pid, "cmdline"));
  std::string command;
  for (const std::string& word : parse_arguments(std::string_view(cmdline).substr(0, longest)))
    command += word + " ";
  if (!command.empty()) command.pop_back();
  return command;
}

std::vector<pid_t> parse_pids(std::string_view list) {
  std::vector<pid_t> pids;
  for (;;) {
    list.remove_prefix(std::min(list.find_first_not_of(" \n"), list.size()));
    TextCursor words(list);
    const auto pid = words.number<pid_t>();
    if (!pid) return pids;
    if (*pid > 0) pids.push_back(*pid);
    list = words.rest();
  }
}

std::vector<ProcessLine> all_processes() {
  return lines_of(numbers_in("/proc"));
}

std::vector<ProcessLine> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const pid_t thread : threads_of(parent)) {
    const std::string path = proc_path(parent, "task/" + std::to_string(thread) + "/children");
    const std::vector<pid_t> of_thread = parse_pids(text_of(path));
    children.insert(children.end(), of_thread.begin(), of_thread.end());
  }
  return lines_of(children);
}

std::vector<pid_t> threads_of(pid_t pid) {
  return numbers_in(proc_path(pid, "task"));
}

std::optional<pid_t> parse_last_pid(std::string_view loadavg) {
  return TextCursor(loadavg.substr(loadavg.rfind(' ') + 1)).number<pid_t>();
}

}  // namespace memduel
