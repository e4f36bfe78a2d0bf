// Memory of known layout: each layout is touched as its name says, tells on stdout what the kernel
// counts as resident, and then frees a large block, before which a snapshot is due.
//   layouts NAME [FILE]
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kMiB = 1024 * 1024;
constexpr std::size_t kPage = 4096;

char* block_of(std::size_t bytes) {
  auto* block = static_cast<char*>(std::malloc(bytes));
  if (block == nullptr) std::exit(9);
  return block;
}

char* mapping_of(std::size_t bytes, int protection, int flags, int fd) {
  void* at = mmap(nullptr, bytes, protection, flags, fd, 0);
  if (at == MAP_FAILED) std::exit(9);
  return static_cast<char*>(at);
}

char* anonymous(std::size_t bytes, int protection = PROT_READ | PROT_WRITE) {
  return mapping_of(bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

void write_pages(char* at, std::size_t bytes, std::size_t every = kPage) {
  for (std::size_t i = 0; i < bytes; i += every) at[i] = 1;
}

long read_pages(const volatile char* at, std::size_t bytes) {
  long sum = 0;
  for (std::size_t i = 0; i < bytes; i += kPage) sum += at[i];
  return sum;
}

void tell_resident(const char* who) {
  std::FILE* file = std::fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  long kilobytes = -1;
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr)
    if (std::sscanf(line, "Rss: %ld kB", &kilobytes) == 1) break;
  if (file != nullptr) std::fclose(file);
  std::printf("%s %ld\n", who, kilobytes * 1024);
  std::fflush(stdout);
}

// Its free ends the maximum.
void end_peak(const char* who = "resident") {
  char* last = block_of(8 * kMiB);
  write_pages(last, 8 * kMiB);
  tell_resident(who);
  std::free(last);
}

// The same where the allocator has free space that a block would come from.
void end_peak_by_unmapping(const char* who = "resident") {
  char* last = anonymous(8 * kMiB);
  write_pages(last, 8 * kMiB);
  tell_resident(who);
  munmap(last, 8 * kMiB);
}

void reserves_and_leaves_untouched() {
  block_of(std::size_t{5} << 30);
  anonymous(std::size_t{200} << 30, PROT_NONE);
  end_peak();
}

void touches_every_second_page() {
  write_pages(block_of(128 * kMiB), 128 * kMiB, 2 * kPage);
  end_peak();
}

void only_reads() {
  const long sum = read_pages(anonymous(64 * kMiB), 64 * kMiB);
  end_peak();
  if (sum != 0) std::exit(9);
}

void leaves_one_of_four() {
  std::vector<char*> blocks;
  for (std::size_t bytes = 0; bytes < 64 * kMiB; bytes += 1024) {
    blocks.push_back(block_of(1008));
    blocks.back()[0] = 1;
  }
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (i % 4 != 0) std::free(blocks[i]);
  end_peak();
}

void free_all_below_one(std::size_t all) {
  std::vector<char*> blocks;
  for (std::size_t bytes = 0; bytes < all; bytes += 1024) {
    blocks.push_back(block_of(1008));
    std::memset(blocks.back(), 1, 1008);
  }
  block_of(1008)[0] = 1;
  for (char* block : blocks) std::free(block);
}

void frees_all_below_one() {
  free_all_below_one(64 * kMiB);
  end_peak_by_unmapping();
}

void uses_stacks() {
  constexpr int kThreads = 64;
  std::mutex mutex;
  std::condition_variable changed;
  int ready = 0;
  bool done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      volatile char used[512 * 1024];
      for (std::size_t at = 0; at < sizeof used; at += kPage) used[at] = 1;
      std::unique_lock lock(mutex);
      ++ready;
      changed.notify_all();
      changed.wait(lock, [&] { return done; });
    });
  }
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ready == kThreads; });
  }
  end_peak();
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  changed.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void frees_in_a_thread() {
  std::thread([] { free_all_below_one(32 * kMiB); }).join();
  end_peak_by_unmapping();
}

void reads_half_a_file(const char* name) {
  const int fd = open(name, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, 300 * kMiB) != 0) std::exit(9);
  const long sum = read_pages(mapping_of(300 * kMiB, PROT_READ, MAP_SHARED, fd), 150 * kMiB);
  end_peak();
  if (sum != 0) std::exit(9);
}

void copies_pages_of_a_file(const char* name) {
  const int fd = open(name, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, 32 * kMiB) != 0) std::exit(9);
  char* at = mapping_of(32 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
  write_pages(at, 16 * kMiB);
  end_peak();
}

void shares_memory() {
  const int fd = memfd_create("layouts-shared", 0);
  if (fd < 0 || ftruncate(fd, 48 * kMiB) != 0) std::exit(9);
  write_pages(mapping_of(48 * kMiB, PROT_READ | PROT_WRITE, MAP_SHARED, fd), 48 * kMiB);
  end_peak();
}

void writes_a_quarter_after_fork() {
  char* block = block_of(128 * kMiB);
  write_pages(block, 128 * kMiB);
  const pid_t child = fork();
  if (child == 0) {
    write_pages(block, 32 * kMiB);
    end_peak("child");
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  end_peak();
}

// The parent has 16 MiB of 24 in memory, and 4 that an arena of a thread keeps free. Its child
// frees 48 MiB and, in a thread with that arena, 32, and writes 8 MiB of what its parent mapped; a
// child of its own maps 20 MiB more.
void frees_after_fork() {
  char* before = anonymous(24 * kMiB);
  write_pages(before, 16 * kMiB);
  std::thread([] { free_all_below_one(4 * kMiB); }).join();
  tell_resident("parent");
  const pid_t child = fork();
  if (child != 0) {
    waitpid(child, nullptr, 0);
    return end_peak_by_unmapping();
  }
  std::thread([] { free_all_below_one(32 * kMiB); }).join();
  free_all_below_one(48 * kMiB);
  write_pages(before + 16 * kMiB, 8 * kMiB);
  end_peak_by_unmapping("child");
  const pid_t grandchild = fork();
  if (grandchild != 0) {
    waitpid(grandchild, nullptr, 0);
    std::exit(0);
  }
  write_pages(anonymous(20 * kMiB), 20 * kMiB);
  end_peak_by_unmapping("grandchild");
  std::exit(0);
}

// A child that a thread forks runs on that thread's stack, of which it uses 512 KiB.
void forks_in_a_thread() {
  std::thread([] {
    const pid_t child = fork();
    if (child != 0) {
      waitpid(child, nullptr, 0);
      return;
    }
    volatile char used[512 * 1024];
    for (std::size_t at = 0; at < sizeof used; at += kPage) used[at] = 1;
    end_peak("child");
    std::exit(0);
  }).join();
  end_peak();
}

void uses_huge_pages() {
  char* at = anonymous(128 * kMiB);
  madvise(at, 128 * kMiB, MADV_HUGEPAGE);
  write_pages(at, 128 * kMiB, 2 * kMiB);
  end_peak();
}

void locks_memory() {
  char* at = anonymous(16 * kMiB);
  if (mlock(at, 16 * kMiB) != 0) std::exit(8);
  end_peak();
}

void maps_its_own() {
  write_pages(anonymous(40 * kMiB), 30 * kMiB);
  end_peak();
}

// After the last call of an allocator, to no more than the program had before a free.
void touches_later(bool gives_back) {
  char* at = anonymous(32 * kMiB);
  write_pages(block_of(128 * kMiB), 128 * kMiB);
  end_peak();
  write_pages(at, 32 * kMiB);
  tell_resident("later");
  if (gives_back) madvise(at, 32 * kMiB, MADV_DONTNEED);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  const char* file = argc > 2 ? argv[2] : "layouts.bin";
  const std::map<std::string, std::function<void()>> layouts = {
      {"nothing", [] { end_peak(); }},
      {"nothing_unmapped", [] { end_peak_by_unmapping(); }},
      {"untouched", reserves_and_leaves_untouched},
      {"second_page", touches_every_second_page},
      {"only_read", only_reads},
      {"one_of_four", leaves_one_of_four},
      {"freed", frees_all_below_one},
      {"freed_in_thread", frees_in_a_thread},
      {"stacks", uses_stacks},
      {"half_file", [file] { reads_half_a_file(file); }},
      {"copied_file", [file] { copies_pages_of_a_file(file); }},
      {"shared", shares_memory},
      {"fork", writes_a_quarter_after_fork},
      {"freed_after_fork", frees_after_fork},
      {"fork_in_thread", forks_in_a_thread},
      {"huge", uses_huge_pages},
      {"locked", locks_memory},
      {"mapping", maps_its_own},
      {"touched_before_exit", [] { touches_later(false); }},
      {"touched_and_given_back", [] { touches_later(true); }},
  };
  const auto layout = layouts.find(name);
  if (layout == layouts.end()) return 2;
  layout->second();
  return 0;
}
