// Cleans up after steps whose effect on the heap is known. For each cleanup a line: its name, what
// was done, what malloc_trim answered ("-": it was not called), the bytes of the freed blocks'
// pages that were resident before and after, and its notes. Then the limit of arenas ("-1": none)
// and its note, as the program was started and once it has asked for 2.
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "memduel/memory.h"

namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr std::size_t kBlock = 16 * 1024;
constexpr std::size_t kBlocks = 4096;

/// 64 MiB in blocks that no allocator maps alone, all freed but one in `stays` (0: none stays).
class FreedBlocks {
 public:
  explicit FreedBlocks(std::size_t stays) {
    for (std::size_t i = 0; i < kBlocks; ++i) {
      auto block = std::make_unique<char[]>(kBlock);
      std::memset(block.get(), 1, kBlock);
      blocks_.push_back(std::move(block));
    }
    for (std::size_t i = 0; i < kBlocks; ++i)
      if (stays == 0 || i % stays != stays - 1) freed_.push_back(std::move(blocks_[i]).release());
    for (char* block : freed_) std::unique_ptr<char[]>(block).reset();
  }

  /// Of the pages that lie wholly within a freed block.
  [[nodiscard]] std::size_t resident_bytes() const {
    std::size_t pages = 0;
    for (const char* block : freed_) {
      const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(block) + kPage - 1) / kPage;
      const std::uintptr_t last = (reinterpret_cast<std::uintptr_t>(block) + kBlock) / kPage;
      for (std::uintptr_t page = first; page < last; ++page) {
        unsigned char here = 0;
        if (mincore(reinterpret_cast<void*>(page * kPage), kPage, &here) == 0 && (here & 1) != 0)
          ++pages;
      }
    }
    return pages * kPage;
  }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<char*> freed_;
};

void clean_up(const char* name, memduel::HeapCleanup how, std::size_t stays) {
  const FreedBlocks blocks(stays);
  const std::size_t before = blocks.resident_bytes();
  const memduel::CleanupReport report = memduel::cleanup_memory({.heap = how, .verbose = true});
  const std::size_t after = blocks.resident_bytes();
  std::printf("%s|%s|%s|%zu|%zu", name, name_of(report.heap),
              report.trim_result ? std::to_string(*report.trim_result).c_str() : "-", before,
              after);
  for (const std::string& note : report.notes) std::printf("|%s", note.c_str());
  std::printf("\n");
}

void say(const char* name, const memduel::ArenaUse& use) {
  std::printf("%s|%d|%s\n", name, use.limit.value_or(-1), use.note.c_str());
}

}  // namespace

int main() {
  std::printf("%s\n", name_of(memduel::allocator_type()));
  clean_up("none", memduel::HeapCleanup::none, 64);
  clean_up("give_back", memduel::HeapCleanup::give_back, 64);
  clean_up("purge", memduel::HeapCleanup::purge, 64);
  clean_up("none_of_all", memduel::HeapCleanup::none, 0);
  clean_up("give_back_all", memduel::HeapCleanup::give_back, 0);
  say("arenas_at_start", memduel::arena_use());
  say("arenas_limited", memduel::limit_arenas(2));
  std::fflush(stdout);
  std::_Exit(0);
}
