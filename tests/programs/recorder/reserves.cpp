// Opens 64 pages of a reservation and closes 16 of them; touches 1,000 pages of a large mapping
// that goes and 10 of one that stays; forks a child that maps 20 pages.
#include <sys/mman.h>
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

}  // namespace

int main() {
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
