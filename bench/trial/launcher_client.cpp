#include "launcher_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "trial/processes.h"
#include "trial/supervisor.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"

// NOLINTNEXTLINE(readability-redundant-declaration): POSIX asks programs to declare it
extern char** environ;

namespace memduel {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Generous: a machine may be busy, and these limits only matter when something is broken.
constexpr milliseconds kStartLimit{20'000};
constexpr milliseconds kEndLimit{20'000};

/// Waits until `pid` has ended; false when it has not within `limit`.
bool wait_for(pid_t pid, milliseconds limit) {
  const auto deadline = steady_clock::now() + limit;
  while (steady_clock::now() < deadline) {
    const pid_t ended = waitpid(pid, nullptr, WNOHANG);
    if (ended == pid || (ended < 0 && errno == ECHILD)) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return false;
}

pid_t start(const std::filesystem::path& program, const std::string& trial, int control) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // Stays open in the launcher and in nothing else that memduel starts meanwhile.
  constexpr int kControl = 3;
  posix_spawn_file_actions_adddup2(&actions, control, kControl);
  std::string name = program.string();
  std::string number = std::to_string(kControl);
  std::string mark = trial;
  std::array<char*, 4> arguments = {name.data(), number.data(), mark.data(), nullptr};
  pid_t pid = 0;
  const int error = posix_spawn(&pid, name.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw Error(ExitCode::cannot_measure,
                fmt::format("cannot start the launcher: {}", std::strerror(error)), name);
  }
  return pid;
}

}  // namespace

std::filesystem::path find_launcher() {
  const auto launcher = program_beside("memduel-launcher");
  if (!is_there(launcher)) {
    throw Error(ExitCode::io, "memduel-launcher is missing", launcher.string(),
                "build or install it next to memduel");
  }
  return launcher;
}

LauncherClient::LauncherClient(const std::filesystem::path& program, const std::string& trial)
    : trial_(trial) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Error(ExitCode::cannot_measure, "cannot create a control socket", std::strerror(errno));
  }
  control_ = Descriptor(ends[0]);
  Descriptor remote(ends[1]);
  const int bytes = 2 << 20;  // the longest command line must fit into one packet
  setsockopt(control_.get(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  if (remote.get() == 3) {
    // dup2 onto itself would leave close-on-exec set.
    remote = Descriptor(fcntl(remote.get(), F_DUPFD_CLOEXEC, 4));
  }
  pid_ = start(program, trial, remote.get());
  remote.reset();
  const auto ready = report_within(kStartLimit);
  const auto message = ready ? message_in<LauncherReady>(ready->fields) : std::nullopt;
  if (!message) {
    kill(pid_, SIGKILL);
    wait_for(pid_, kEndLimit);
    throw Error(ExitCode::cannot_measure, "the launcher did not start", program.string());
  }
  cgroup_ = std::get<LauncherReady>(*message).cgroup;
}

LauncherClient::~LauncherClient() {
  control_.reset();
  if (is_stopped() || !wait_for(pid_, kEndLimit)) {
    kill_launcher();
    wait_for(pid_, kEndLimit);
  }
  if (!nobody_left_) kill_what_is_left();
}

bool LauncherClient::is_stopped() const {
  const auto line = process_line(pid_);
  return line && (line->state == 'T' || line->state == 't');
}

void LauncherClient::kill_launcher() const {
  kill(pid_, SIGKILL);
}

int LauncherClient::request(const std::vector<std::string>& fields,
                            const std::vector<int>& descriptors) {
  return send_packet(control_.get(), fields, descriptors);
}

void LauncherClient::ask_to_end() {
  is_ending_ = true;
  if (request(fields_of(EndRequest{})) != 0) shutdown(control_.get(), SHUT_WR);
}

void LauncherClient::signal(const std::string& role, int number) {
  // What it has not read when it exits would cost its last reports.
  if (!is_ending_) request(fields_of(SignalRequest{role, number}));
}

void LauncherClient::limit_data(std::int64_t bytes) {
  request(fields_of(LimitDataRequest{bytes}));
}

std::optional<Packet> LauncherClient::report() {
  auto packet = receive_packet(control_.get());
  over_ = over_ || !packet;
  return packet;
}

std::optional<Packet> LauncherClient::report_within(milliseconds limit) {
  constexpr milliseconds kLook{500};
  const auto deadline = steady_clock::now() + limit;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) {
      over_ = true;
      return std::nullopt;
    }
    pollfd wait{control_.get(), POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(std::min(left, kLook).count()));
    if (ready > 0) return report();
    if (is_stopped()) kill_launcher();
  }
}

std::optional<std::vector<pid_t>> LauncherClient::living() const {
  if (over_) return std::nullopt;
  return cgroup_.exists() ? processes_in(cgroup_) : descendants_of(pid_);
}

void LauncherClient::kill_if_stopped_for(double patience_ns, std::int64_t now_ns) {
  if (now_ns < look_due_ns_) return;
  look_due_ns_ = now_ns + kSecondNs;
  if (!is_stopped()) {
    stopped_since_ns_ = 0;
    return;
  }
  if (stopped_since_ns_ == 0) stopped_since_ns_ = now_ns;
  if (static_cast<double>(now_ns - stopped_since_ns_) > patience_ns) kill_launcher();
}

void LauncherClient::ended(bool nobody_left) {
  over_ = true;
  nobody_left_ = nobody_left;
}

/// After an orderly end this finds nobody; after the launcher was killed it does its work: the
/// group and the mark in the environment find what its death has left.
void LauncherClient::kill_what_is_left() const {
  for (int look = 0; look < 100; ++look) {
    auto left = processes_in(cgroup_);
    const auto marked = marked_processes(trial_, all_processes());
    left.insert(left.end(), marked.begin(), marked.end());
    if (left.empty()) break;
    kill_cgroup(cgroup_);
    for (const pid_t pid : left) kill(pid, SIGKILL);
    std::this_thread::sleep_for(milliseconds(10));
  }
  remove_cgroup(cgroup_);
}

}  // namespace memduel
