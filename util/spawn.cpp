#include "util/spawn.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string_view>

#include "util/clock.h"
#include "util/file.h"

namespace memduel {
namespace {

/// What the child tells: that it executes the program now, or what failed.
struct Told {
  std::int64_t begin_ns = 0;
  SpawnStep step = {};
  int error_number = 0;
};

/// What the child needs, made before the fork: nothing may be allocated after it.
struct Prepared {
  const SpawnOptions& options;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  pid_t parent;
  int report;
  std::string list_of_group;  ///< the cgroup.procs of options.group, while it has to join it
};

std::string_view variable_name(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

/// As exec takes them; they stay those of `strings`.
std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Of several changes to one name the last one counts.
std::vector<char*> environment_with(const std::vector<std::string>& changes) {
  std::map<std::string_view, const std::string*> changed;
  for (const std::string& change : changes) changed[variable_name(change)] = &change;
  std::vector<char*> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (!changed.contains(variable_name(*entry))) entries.push_back(*entry);
  for (const auto& [name, change] : changed)
    if (name.size() < change->size()) entries.push_back(const_cast<char*>(change->c_str()));
  entries.push_back(nullptr);
  return entries;
}

[[noreturn]] void fail(int report, SpawnStep step) {
  const Told told{0, step, errno};
  _exit(write(report, &told, sizeof told) == sizeof told ? 127 : 126);
}

bool join(const char* group) {
  const int file = open(group, O_WRONLY | O_CLOEXEC);
  return file >= 0 && write(file, "0", 1) == 1;
}

/// A process in the control group. To move one there takes the kernel some 10 ms, to make one there
/// nothing; Linux 5.7 and later can. Returns the process, 0 in the process itself, or -1 if the
/// kernel refuses.
pid_t fork_into(const char* group) {
  const Descriptor directory(open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return -1;
  clone_args arguments{};
  arguments.flags = CLONE_INTO_CGROUP;
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = static_cast<std::uint64_t>(directory.get());
  return static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof arguments));
}

/// dup2 leaves close-on-exec set when both numbers are equal.
bool place(int descriptor, int number) {
  if (descriptor < 0) return true;
  return descriptor == number ? fcntl(descriptor, F_SETFD, 0) == 0 : dup2(descriptor, number) >= 0;
}

/// Only what is safe between fork and exec.
[[noreturn]] void become(const Prepared& child) {
  const SpawnOptions& options = child.options;
  if (options.is_contained) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != child.parent) _exit(127);  // it ended before the kernel was told
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, options.blocked != nullptr ? options.blocked : &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  if (!child.list_of_group.empty() && !join(child.list_of_group.c_str()))
    fail(child.report, SpawnStep::join_groups);
  for (const std::string& group : options.groups)
    if (!join(group.c_str())) fail(child.report, SpawnStep::join_groups);
  for (const auto& [descriptor, number] : options.descriptors)
    if (!place(descriptor, number)) fail(child.report, SpawnStep::connect_descriptors);
  if (!options.directory.empty() && chdir(options.directory.c_str()) != 0)
    fail(child.report, SpawnStep::enter_directory);
  const rlimit limit{options.data_limit, options.data_limit};
  if (options.data_limit != 0 && setrlimit(RLIMIT_DATA, &limit) != 0)
    fail(child.report, SpawnStep::limit_data);
  environ = const_cast<char**>(child.environment.data());
  const Told told{monotonic_ns(), SpawnStep::execute, 0};
  if (write(child.report, &told, sizeof told) != sizeof told) _exit(126);
  execvp(child.arguments[0], child.arguments.data());
  fail(child.report, SpawnStep::execute);
}

/// The last word of the child; nothing where it was killed before it said any.
Told last_told(int from) {
  Told told;
  Told next;
  ssize_t got = 0;
  do {
    got = read(from, &next, sizeof next);
    if (got == sizeof next) told = next;
  } while (got > 0 || (got < 0 && errno == EINTR));
  return told;
}

SpawnResult failed_at(SpawnStep step, int error_number) {
  return {.failed = step, .error_number = error_number};
}

/// Above all numbers that the program gets, for the child's copy must survive their making.
int least_report(const SpawnOptions& options) {
  int least = STDERR_FILENO + 1;
  for (const auto& [descriptor, number] : options.descriptors) least = std::max(least, number + 1);
  return least;
}

}  // namespace

SpawnResult spawn(const SpawnOptions& options) {
  Pipe pipe = make_pipe();
  if (!pipe.from) return failed_at(SpawnStep::make_process, errno);
  Descriptor report(fcntl(pipe.into.get(), F_DUPFD_CLOEXEC, least_report(options)));
  if (!report) return failed_at(SpawnStep::make_process, errno);
  pipe.into.reset();
  Prepared prepared{options,
                    pointers_to(options.arguments),
                    environment_with(options.environment),
                    getpid(),
                    report.get(),
                    {}};
  pid_t pid = options.group.empty() ? -1 : fork_into(options.group.c_str());
  if (pid < 0) {
    if (!options.group.empty()) prepared.list_of_group = options.group + "/cgroup.procs";
    pid = fork();
  }
  if (pid == 0) become(prepared);
  if (pid < 0) return failed_at(SpawnStep::make_process, errno);
  report.reset();
  const Told told = last_told(pipe.from.get());
  if (told.error_number == 0)
    return {.pid = pid, .begin_ns = told.begin_ns == 0 ? monotonic_ns() : told.begin_ns};
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return failed_at(told.step, told.error_number);
}

}  // namespace memduel
