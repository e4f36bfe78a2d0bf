// Allocates 1,000 blocks of 1,000 bytes and leaves in the way that the argument names.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "memduel/annotate.h"

namespace {

void* volatile sink;

void allocate() {
  for (int i = 0; i < 1000; ++i) sink = malloc(1000);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const char* way = argv[1];
  memduel_round_begin(7);
  allocate();
  if (strcmp(way, "return") == 0) return 0;
  if (strcmp(way, "exit") == 0) exit(0);
  if (strcmp(way, "_exit") == 0) _exit(0);
  if (strcmp(way, "_Exit") == 0) _Exit(0);
  if (strcmp(way, "quick_exit") == 0) quick_exit(0);
  if (strcmp(way, "abort") == 0) abort();
  if (strcmp(way, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(way, "execl") == 0) execl("/bin/true", "true", nullptr);
  if (strcmp(way, "execlp") == 0) execlp("true", "true", nullptr);
  if (strcmp(way, "execle") == 0) execle("/bin/true", "true", nullptr, environ);
  char* arguments[] = {const_cast<char*>("true"), nullptr};
  if (strcmp(way, "execv") == 0) execv("/bin/true", arguments);
  if (strcmp(way, "execvp") == 0) execvp("true", arguments);
  if (strcmp(way, "execve") == 0) execve("/bin/true", arguments, environ);
  if (strcmp(way, "failed_exec") == 0) {
    execv("/nowhere/true", arguments);
    allocate();
    kill(getpid(), SIGKILL);
  }
  return 3;
}
