// The launcher where the machine gives it less than it needs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>

#include "launcher/protocol.h"

namespace memduel {
namespace {

constexpr int kControl = 3;

/// The kernel answers one system call with EMFILE from now on.
void refuse_descriptors_of(unsigned call) {
  std::array filter = {sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                       sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call},
                       sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EMFILE},
                       sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog program{filter.size(), filter.data()};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

class StartedLauncher {
 public:
  explicit StartedLauncher(std::optional<unsigned> refused_call = std::nullopt) {
    std::array<int, 2> sockets{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(sockets[1], kControl + 1);
      dup2(kControl + 1, kControl);
      close_range(kControl + 1, ~0U, 0);
      if (refused_call) refuse_descriptors_of(*refused_call);
      execl(MEMDUEL_LAUNCHER, MEMDUEL_LAUNCHER, "3", "launcher-test", nullptr);
      _exit(127);
    }
    close(sockets[1]);
    control_ = sockets[0];
  }
  StartedLauncher(const StartedLauncher&) = delete;
  StartedLauncher& operator=(const StartedLauncher&) = delete;
  ~StartedLauncher() {
    close(control_);
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] int control() const { return control_; }

  /// Absent where it goes on for five seconds.
  std::optional<int> exit_status() {
    for (int look = 0; look < 500; ++look) {
      int status = 0;
      if (waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      usleep(10'000);
    }
    return std::nullopt;
  }

 private:
  pid_t pid_ = 0;
  int control_ = -1;
};

TEST(Launcher, WithoutADescriptorForSignalsItDoesNotBegin) {
  StartedLauncher launcher(SYS_signalfd4);
  EXPECT_EQ(launcher.exit_status(), 3) << "else it would never learn that a process has ended";
  EXPECT_FALSE(receive_packet(launcher.control()));
}

// What memduel does where its last request cannot be sent.
TEST(Launcher, AConnectionThatIsClosedForWritingEndsItWithALastReport) {
  StartedLauncher launcher;
  ASSERT_TRUE(receive_packet(launcher.control()));
  shutdown(launcher.control(), SHUT_WR);
  const auto last = receive_packet(launcher.control());
  ASSERT_TRUE(last);
  EXPECT_EQ(last->fields.at(0), "ended");
  EXPECT_EQ(launcher.exit_status(), 0);
}

// poll refuses more descriptors than a process may have.
TEST(Launcher, ThatCannotWaitForRequestsEnds) {
  StartedLauncher launcher;
  const auto ready = receive_packet(launcher.control());
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->fields.at(0), "ready");
  const rlimit none{1, 1};
  ASSERT_EQ(prlimit(launcher.pid(), RLIMIT_NOFILE, &none, nullptr), 0);
  send_packet(launcher.control(), {"signal", "nobody", "0"});
  EXPECT_EQ(launcher.exit_status(), 0);
}

}  // namespace
}  // namespace memduel
