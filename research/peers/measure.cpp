// memduel-peer-measure CMD…: runs a command and prints its CPU seconds, peak RSS bytes and exit
// status. A process of its own, because the kernel counts the peak of the process that forked into
// that of its child until the child executes its program: a Python parent's 15 MiB would be in
// every row.
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// Ours, with the library that the environment names for the command alone.
std::vector<char*> command_environment(std::string& preload) {
  std::vector<char*> variables;
  for (char** at = environ; *at != nullptr; ++at) variables.push_back(*at);
  if (const char* library = std::getenv("PEER_PRELOAD"); library != nullptr) {
    preload = std::string("LD_PRELOAD=") + library;
    variables.push_back(preload.data());
  }
  variables.push_back(nullptr);
  return variables;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::string preload;
  std::vector<char*> environment = command_environment(preload);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, argv[1], nullptr, nullptr, argv + 1, environment.data());
  if (failure != 0) {
    std::fprintf(stderr, "cannot run %s: %s\n", argv[1], std::strerror(failure));
    return 1;
  }
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child) return 1;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::fprintf(stderr, "\nmeasured %.6f %ld %d\n",
               seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss * 1024, code);
}
