#include "base/capture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"

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

}  // namespace memduel
