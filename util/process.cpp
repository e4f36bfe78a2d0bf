#include "util/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

/// A pipe that no other child inherits.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw Error(ExitCode::io, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    }
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int end(std::size_t index) const { return ends_[index]; }
  void close(std::size_t index) {
    if (ends_[index] >= 0) ::close(std::exchange(ends_[index], -1));
  }

 private:
  std::array<int, 2> ends_ = {-1, -1};
};

/// A file without a name that holds `text`, at its beginning.
Descriptor file_with(const std::string& text) {
  Descriptor file(::memfd_create("input", MFD_CLOEXEC));
  std::size_t written = 0;
  while (file.get() >= 0 && written < text.size()) {
    const ssize_t more = ::write(file.get(), text.data() + written, text.size() - written);
    if (more < 0 && errno != EINTR) break;
    if (more > 0) written += static_cast<std::size_t>(more);
  }
  if (file.get() < 0 || written < text.size() || ::lseek(file.get(), 0, SEEK_SET) != 0)
    throw Error(ExitCode::io, fmt::format("cannot hold its input: {}", std::strerror(errno)));
  return file;
}

/// What a child becomes; only what is safe between fork and exec. Its own process group is ended as
/// one, and the kernel ends it with its parent, however that dies.
[[noreturn]] void become(char* const* argv, const char* directory,
                         const std::array<int, 3>& streams, int report, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool is_orphan = ::getppid() != parent;
  bool ready = !is_orphan && (*directory == '\0' || ::chdir(directory) == 0);
  for (int stream = 0; stream < 3; ++stream)
    ready = ready && ::dup2(streams[static_cast<std::size_t>(stream)], stream) == stream;
  if (ready) ::execvp(argv[0], argv);
  const int failed = errno;
  static_cast<void>(!::write(report, &failed, sizeof failed));
  ::_exit(127);
}

/// The error that kept the child from becoming its program; 0 when nothing did.
int failure_in(int report) {
  int failed = 0;
  ssize_t size = 0;
  do size = ::read(report, &failed, sizeof failed);
  while (size < 0 && errno == EINTR);
  return size == sizeof failed ? failed : 0;
}

pid_t start(const std::vector<std::string>& argv, const CaptureOptions& options, const Pipe& out,
            const Pipe& err) {
  const Descriptor input = file_with(options.input);
  const std::string directory = options.directory.string();
  std::vector<char*> arguments;
  for (const std::string& one : argv) arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  Pipe report;
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0)
    throw Error(ExitCode::io, fmt::format("cannot start: {}", std::strerror(errno)), argv[0]);
  if (pid == 0)
    become(arguments.data(), directory.c_str(), {input.get(), out.end(1), err.end(1)},
           report.end(1), parent);
  ::setpgid(pid, pid);
  report.close(1);
  if (const int failed = failure_in(report.end(0)); failed != 0) {
    ::waitpid(pid, nullptr, 0);
    throw Error(ExitCode::io, fmt::format("cannot start: {}", std::strerror(failed)), argv[0]);
  }
  return pid;
}

/// Appends what is there; false at the end of the stream.
bool drain(int fd, std::string& into) {
  std::array<char, 65536> buffer{};
  const ssize_t size = ::read(fd, buffer.data(), buffer.size());
  if (size < 0) return errno == EINTR;
  into.append(buffer.data(), static_cast<std::size_t>(size));
  return size > 0;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

constexpr std::size_t kMostOutput = std::size_t{64} << 20;

bool is_too_much(const Captured& captured) {
  return captured.out.size() + captured.err.size() > kMostOutput;
}

/// Reads both streams to their ends; false when the time is over first, it is too much, or waiting
/// for them fails, which errno then says.
bool read_until(std::chrono::steady_clock::time_point end, Pipe& out, Pipe& err, Captured& into) {
  bool out_open = true;
  bool err_open = true;
  while (out_open || err_open) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    errno = 0;
    if (left.count() <= 0 || is_too_much(into)) return false;
    std::array<pollfd, 2> watched = {
        {{out_open ? out.end(0) : -1, POLLIN, 0}, {err_open ? err.end(0) : -1, POLLIN, 0}}};
    constexpr std::int64_t kLongestWait = 1000;
    if (::poll(watched.data(), watched.size(),
               static_cast<int>(std::min<std::int64_t>(left.count(), kLongestWait))) < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    if (watched[0].revents != 0) out_open = drain(out.end(0), into.out);
    if (watched[1].revents != 0) err_open = drain(err.end(0), into.err);
  }
  return true;
}

}  // namespace

Captured capture(const std::vector<std::string>& argv, const CaptureOptions& options) {
  Pipe out;
  Pipe err;
  const pid_t pid = start(argv, options, out, err);
  out.close(1);
  err.close(1);
  const auto end =
      std::chrono::steady_clock::now() +
      std::chrono::milliseconds(static_cast<std::int64_t>(options.within_seconds * 1000));
  Captured captured;
  const bool done = read_until(end, out, err, captured);
  const int unwaited = done ? 0 : errno;
  if (!done) ::kill(-pid, SIGKILL);
  captured.exit_status = wait_for(pid);
  if (unwaited != 0)
    throw Error(ExitCode::io,
                fmt::format("cannot wait for what it prints: {}", std::strerror(unwaited)),
                argv[0]);
  if (!done) {
    throw Error(
        ExitCode::cannot_measure,
        is_too_much(captured)
            ? fmt::format("printed more than {} MiB and was killed", kMostOutput >> 20)
            : fmt::format("was not done within {} s and was killed", options.within_seconds),
        argv[0]);
  }
  return captured;
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
  std::error_code unreadable;
  if (std::filesystem::exists(installed, unreadable)) return installed;
  return (directory / built / name).lexically_normal();
}

}  // namespace

std::filesystem::path program_beside(std::string_view name) {
  return part(name, ".");
}

std::string own_program(const std::string& name) {
  if (!name.starts_with("memduel-") || name.find('/') != std::string::npos) return name;
  const std::filesystem::path beside = program_beside(name);
  std::error_code unreadable;
  return std::filesystem::exists(beside, unreadable) ? beside.string() : name;
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
