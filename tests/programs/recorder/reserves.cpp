// Opens 64 pages of a reservation and closes 16 of them; touches 1,000 pages of a large mapping
// that goes and 10 of one that stays; forks a child that maps 20 pages. "many" maps 200 large ones
// and touches a page of each; "filtered" may not ask what is in memory; "closed" takes the access
// from a large one of which it has touched 1,000 pages.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace {

constexpr std::size_t kPage = 4096;

char* map(std::size_t pages, int protection = PROT_READ | PROT_WRITE) {
  void* at = mmap(nullptr, pages * kPage, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(at, pages * kPage, MADV_NOHUGEPAGE);
  return static_cast<char*>(at);
}

void map_many() {
  for (int i = 0; i < 200; ++i) *map(1 << 10) = 1;
}

void map_filtered() {
  sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mincore, 0, 1),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog program{4, rules};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
  char* large = map(1 << 10);
  munmap(large, (1 << 10) * kPage);
  map(1 << 10);
}

void map_closed() {
  char* large = map(1 << 12);
  memset(large, 1, 1000 * kPage);
  mprotect(large, (1 << 12) * kPage, PROT_NONE);
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) {
    const char* way = arguments[1];
    if (strcmp(way, "closed") == 0) {
      map_closed();
    } else {
      strcmp(way, "many") == 0 ? map_many() : map_filtered();
    }
    return 0;
  }
  char* reserved = map(1 << 18, PROT_NONE);
  for (std::size_t page = 0; page < 64; page += 8)
    mprotect(reserved + page * kPage, 8 * kPage, PROT_READ | PROT_WRITE);
  mprotect(reserved + 8 * kPage, 8 * kPage, PROT_READ);  // it is open already
  mprotect(reserved + 44 * kPage, 16 * kPage, PROT_NONE);
  char* large = map(1 << 14);
  memset(large, 1, 1000 * kPage);
  munmap(large, (1 << 14) * kPage);
  char* kept = map(1 << 13);
  memset(kept, 1, 10 * kPage);
  if (fork() == 0) {
    memset(map(20), 1, 20 * kPage);
    _exit(0);
  }
  int status = 0;
  wait(&status);
  return status;
}
