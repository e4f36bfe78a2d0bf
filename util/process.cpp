#include "util/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "util/error.h"
#include "util/file.h"
#include "util/spawn.h"

namespace memduel {
namespace {

Pipe pipe_of_helper() {
  Pipe pipe = make_pipe();
  if (!pipe.from)
    throw Error(ExitCode::io, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  return pipe;
}

/// A file without a name that holds `text`, at its beginning.
Descriptor file_with(const std::string& text) {
  Descriptor file(::memfd_create("input", MFD_CLOEXEC));
  if (!file || !write_all(file.get(), text) || ::lseek(file.get(), 0, SEEK_SET) != 0)
    throw Error(ExitCode::io, fmt::format("cannot hold its input: {}", std::strerror(errno)));
  return file;
}

constexpr std::array kEndingSignals = {SIGINT, SIGTERM, SIGHUP};
std::array<std::atomic<pid_t>, 64> running_groups{};
std::mutex handlers_mutex;
int running_helpers = 0;

/// In place of the default action, which would leave what a helper has started.
extern "C" void end_helpers_and_die(int number) {
  for (const std::atomic<pid_t>& group : running_groups)
    if (const pid_t pid = group; pid > 0) ::kill(-pid, SIGKILL);
  ::signal(number, SIG_DFL);
  ::raise(number);
}

void replace_handlers(void (*from)(int), void (*to)(int)) {
  for (const int number : kEndingSignals) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler != from) continue;
    action = {};
    action.sa_handler = to;
    sigaction(number, &action, nullptr);
  }
}

/// A started helper. With it goes all of its process group.
class HelperProcess {
 public:
  explicit HelperProcess(pid_t pid) : pid_(pid) {
    const std::lock_guard lock(handlers_mutex);
    if (running_helpers++ == 0) replace_handlers(SIG_DFL, end_helpers_and_die);
    for (std::atomic<pid_t>& group : running_groups)
      if (pid_t none = 0; group.compare_exchange_strong(none, pid)) break;
  }
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;
  ~HelperProcess() {
    if (pid_ > 0) end();
  }

  void signal(int number) const { ::kill(-pid_, number); }

  /// Its number stays its own: nobody has waited for it yet.
  [[nodiscard]] bool has_ended() const {
    siginfo_t found{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &found, WEXITED | WNOHANG | WNOWAIT) != 0
               ? errno == ECHILD
               : found.si_pid == pid_;
  }

  /// As waitpid tells its end.
  int end() {
    signal(SIGKILL);
    int status = 0;
    {
      const std::lock_guard lock(handlers_mutex);
      for (std::atomic<pid_t>& group : running_groups)
        if (pid_t own = pid_; group.compare_exchange_strong(own, 0)) break;
      if (--running_helpers == 0) replace_handlers(end_helpers_and_die, SIG_DFL);
    }
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_;
};

pid_t start_helper(const std::vector<std::string>& argv, const HelperOptions& options,
                   const std::array<int, 3>& streams) {
  SpawnOptions how;
  how.arguments = argv;
  for (const auto& [name, value] : options.environment)
    how.environment.push_back(value ? name + "=" + *value : name);
  how.directory = options.directory.string();
  how.descriptors = {
      {streams[0], STDIN_FILENO}, {streams[1], STDOUT_FILENO}, {streams[2], STDERR_FILENO}};
  how.is_contained = true;
  const SpawnResult started = spawn(how);
  if (started.pid != 0) return started.pid;
  throw Error(ExitCode::io,
              started.failed == SpawnStep::enter_directory
                  ? fmt::format("cannot start in {}: {}", how.directory,
                                std::strerror(started.error_number))
                  : "cannot start: " + why_not_run(argv[0], started.error_number),
              argv[0]);
}

/// Appends what is there; false at the end of the stream.
bool drain(int fd, std::string& into) {
  std::array<char, 65536> buffer{};
  const ssize_t size = ::read(fd, buffer.data(), buffer.size());
  if (size < 0) return errno == EINTR;
  into.append(buffer.data(), static_cast<std::size_t>(size));
  return size > 0;
}

constexpr std::size_t kMostOutput = std::size_t{64} << 20;

using HelperClock = std::chrono::steady_clock;

/// Until a helper has ended and its streams have, or something ends it.
class HelperWait {
 public:
  HelperWait(const HelperProcess& helper, std::string program, const HelperOptions& options,
             HelperResult& into)
      : helper_(helper), program_(std::move(program)), into_(into), stop_(options.stop) {
    if (options.within_seconds)
      end_ = HelperClock::now() +
             std::chrono::milliseconds(static_cast<std::int64_t>(*options.within_seconds * 1000));
  }

  /// @param out -1 for a stream that is not captured, as is `err`
  void until_over(int out, int err) {
    while (out >= 0 || err >= 0 || !helper_.has_ended()) {
      end_if_asked();
      into_.output_cut = into_.out.size() + into_.err.size() > kMostOutput;
      if (into_.output_cut || (into_.stopped && stop_->asked_for_haste())) return;
      if (HelperClock::now() >= end_) {
        into_.timed_out = !into_.stopped;
        return;
      }
      if (out >= 0 || err >= 0)
        read_from(out, err);
      else
        pause();
    }
  }

 private:
  void end_if_asked() {
    constexpr std::chrono::seconds kGrace{5};
    if (stop_ == nullptr || into_.stopped || !stop_->asked()) return;
    into_.stopped = true;
    helper_.signal(SIGTERM);
    end_ = HelperClock::now() + kGrace;
  }

  /// A signal may come to another thread, and does not end the poll then.
  void read_from(int& out, int& err) {
    constexpr std::chrono::milliseconds kLongestWait{100};
    const auto left = std::min(
        kLongestWait, std::chrono::ceil<std::chrono::milliseconds>(end_ - HelperClock::now()));
    std::array<pollfd, 2> watched = {{{out, POLLIN, 0}, {err, POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(),
               static_cast<int>(std::max<std::int64_t>(left.count(), 0))) < 0) {
      if (errno == EINTR) return;
      throw Error(ExitCode::io,
                  fmt::format("cannot wait for what it prints: {}", std::strerror(errno)),
                  program_);
    }
    if (watched[0].revents != 0 && !drain(out, into_.out)) out = -1;
    if (watched[1].revents != 0 && !drain(err, into_.err)) err = -1;
  }

  void pause() {
    constexpr std::chrono::microseconds kLongestPause{20'000};
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(2 * pause_, kLongestPause);
  }

  const HelperProcess& helper_;
  std::string program_;
  HelperResult& into_;
  const StopRequest* stop_;
  HelperClock::time_point end_ = HelperClock::time_point::max();
  std::chrono::microseconds pause_{100};
};

Descriptor opened(const std::filesystem::path& file, int how) {
  constexpr mode_t kOfFiles = 0644;
  Descriptor descriptor(::open(file.c_str(), how | O_CLOEXEC, kOfFiles));
  if (!descriptor) throw Error(ExitCode::io, std::strerror(errno), file.string());
  return descriptor;
}

}  // namespace

HelperResult run_helper(const std::vector<std::string>& argv, const HelperOptions& options) {
  if (options.stop != nullptr && options.stop->asked()) {
    HelperResult stopped;
    stopped.signal = SIGTERM;
    stopped.exit_status = 128 + SIGTERM;
    stopped.stopped = true;
    return stopped;
  }
  const bool is_captured = options.log.empty();
  const Descriptor input =
      options.input.empty() ? opened("/dev/null", O_RDONLY) : file_with(options.input);
  const Descriptor log =
      is_captured ? Descriptor() : opened(options.log, O_WRONLY | O_CREAT | O_APPEND);
  Pipe out = pipe_of_helper();
  Pipe err = pipe_of_helper();
  HelperProcess helper(start_helper(argv, options,
                                    {input.get(), is_captured ? out.into.get() : log.get(),
                                     is_captured ? err.into.get() : log.get()}));
  out.into.reset();
  err.into.reset();
  HelperResult result;
  HelperWait(helper, argv[0], options, result)
      .until_over(is_captured ? out.from.get() : -1, is_captured ? err.from.get() : -1);
  const int status = helper.end();
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.exit_status = result.signal != 0 ? 128 + result.signal : WEXITSTATUS(status);
  return result;
}

HelperResult capture(const std::vector<std::string>& argv, const HelperOptions& options) {
  HelperResult result = run_helper(argv, options);
  if (result.stopped) throw options.stop->error("stopped by a signal", argv[0]);
  if (result.output_cut)
    throw Error(ExitCode::cannot_measure,
                fmt::format("printed more than {} MiB and was killed", kMostOutput >> 20), argv[0]);
  if (result.timed_out)
    throw Error(ExitCode::cannot_measure,
                fmt::format("was not done within {} s and was killed", *options.within_seconds),
                argv[0]);
  return result;
}

pid_t start_command(const SpawnOptions& options) {
  const SpawnResult started = spawn(options);
  if (started.pid != 0) return started.pid;
  if (started.failed == SpawnStep::make_process)
    throw Error(ExitCode::io, fmt::format("cannot fork: {}", std::strerror(started.error_number)));
  const std::string& program = options.arguments[0];
  const bool is_line = options.arguments.size() == 1 && started.error_number == ENOENT &&
                       program.find(' ') != std::string::npos;
  throw Error(
      ExitCode::usage, "cannot run it: " + why_not_run(program, started.error_number), program,
      is_line ? "give the program and its arguments as words without quotes: " + program : "");
}

std::map<std::string, std::string> current_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::string without_line_end(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

std::string why_not_run(const std::string& program, int error) {
  std::error_code unreadable;
  const bool is_there = program.find('/') != std::string::npos &&
                        std::filesystem::is_regular_file(program, unreadable);
  if (error != ENOENT || !is_there) return std::strerror(error);
  std::ifstream file(program, std::ios::binary);
  constexpr std::size_t kLongest = 256;  // what Linux reads of it
  std::string line(kLongest, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  if (!line.starts_with("#!"))
    return "its dynamic linker is not there: it was built for another system";
  const std::size_t begin = line.find_first_not_of(" \t", 2);
  const std::size_t end = begin == std::string::npos ? begin : line.find_first_of(" \t\r\n", begin);
  const std::string interpreter = begin == std::string::npos ? "" : line.substr(begin, end - begin);
  const bool of_windows = end != std::string::npos && line[end] == '\r';
  return "its first line names the interpreter " + interpreter + ", which is not there" +
         (of_windows ? ": the line ends as in Windows" : "");
}

bool is_program(const std::filesystem::path& file) {
  std::error_code unreadable;
  return std::filesystem::is_regular_file(file, unreadable) && ::access(file.c_str(), X_OK) == 0;
}

std::string own_path() {
  const char* path = std::getenv("PATH");
  return path == nullptr ? "/bin:/usr/bin" : path;
}

std::vector<std::string> folders_of(const std::string& path) {
  std::vector<std::string> folders;
  std::istringstream stream(path);
  for (std::string folder; std::getline(stream, folder, ':');) folders.push_back(folder);
  return folders;
}

std::optional<std::filesystem::path> resolve_program(const std::string& name,
                                                     const std::filesystem::path& cwd,
                                                     const std::string& path) {
  if (name.find('/') != std::string::npos) {
    const std::filesystem::path file = cwd / name;
    return is_program(file) ? std::optional(file.lexically_normal()) : std::nullopt;
  }
  for (const std::string& folder : folders_of(path))
    if (std::filesystem::path file = cwd / folder / name; is_program(file)) return file;
  return std::nullopt;
}

namespace {

std::filesystem::path own_directory() {
  std::error_code unreadable;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unreadable);
  if (unreadable)
    throw Error(ExitCode::io, "cannot be read: " + unreadable.message(), "/proc/self/exe",
                "mount /proc: memduel finds its own parts and all processes there");
  const auto self = std::filesystem::read_symlink("/proc/self", unreadable);
  if (self != std::to_string(getpid()))
    throw Error(ExitCode::cannot_measure,
                "/proc/self is " + self.string() + ", and this is process " +
                    std::to_string(getpid()) + ": /proc shows another PID namespace",
                "", "mount its own: unshare --pid --fork --mount-proc");
  return program.parent_path();
}

/// What is installed comes before what lies in a build directory.
std::filesystem::path part(std::string_view name, const std::filesystem::path& built) {
  const std::filesystem::path directory = own_directory();
  std::filesystem::path installed = directory.parent_path() / "lib" / "memduel" / name;
  if (is_there(installed)) return installed;
  return (directory / built / name).lexically_normal();
}

}  // namespace

std::filesystem::path program_beside(std::string_view name) {
  return part(name, ".");
}

std::string own_program(const std::string& name) {
  if (!name.starts_with("memduel-") || name.find('/') != std::string::npos) return name;
  const std::filesystem::path beside = program_beside(name);
  return is_there(beside) ? beside.string() : name;
}

std::filesystem::path library_beside_programs(std::string_view name) {
  return part(name, "../lib");
}

namespace {

extern "C" void ignore_signal(int /*number*/) {}

void reserve_standard_descriptors() {
  int opened = 0;
  do {
    opened = ::open("/dev/null", O_RDWR);
  } while (opened >= 0 && opened <= STDERR_FILENO);
  if (opened > STDERR_FILENO) ::close(opened);
}

void let_writing_fail() {
  // A handler, unlike SIG_IGN, is not inherited by the programs that are measured.
  struct sigaction action = {};
  action.sa_handler = ignore_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPIPE, &action, nullptr);
  sigaction(SIGXFSZ, &action, nullptr);
}

void hear_children_and_people() {
  std::signal(SIGCHLD, SIG_DFL);
  sigset_t heard;
  sigemptyset(&heard);
  for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&heard, number);
  sigprocmask(SIG_UNBLOCK, &heard, nullptr);
}

}  // namespace

void undo_inherited_state() noexcept {
  reserve_standard_descriptors();
  let_writing_fail();
  hear_children_and_people();
}

namespace {

/// Threads that are started meanwhile get no signals: those are the first thread's.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

std::size_t cores() {
  return std::max(1U, std::thread::hardware_concurrency());
}

/// Fewer than `count` where the system gives no more.
std::vector<std::jthread> start(std::size_t count, const std::function<void()>& work) {
  std::vector<std::jthread> threads;
  const SignalsBlocked blocked;
  try {
    while (threads.size() < count) threads.emplace_back(work);
  } catch (const std::system_error&) {
    return threads;
  }
  return threads;
}

}  // namespace

void run_parallel(std::size_t count, const std::function<void(std::size_t)>& run) {
  if (count == 0) return;
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        run(i);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> others = start(std::min(count, cores()) - 1, work);
  work();
  others.clear();  // waits for them
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace memduel
