#include "heap_meter.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace memduel {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 20000;  // more than one read

/// A private mapping without huge pages.
class Mapping {
 public:
  Mapping()
      : at_(static_cast<char*>(mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    madvise(at_, kPages * kPage, MADV_NOHUGEPAGE);
  }
  ~Mapping() { munmap(at_, kPages * kPage); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  void touch(std::size_t first, std::size_t pages) {
    memset(at_ + first * kPage, 1, pages * kPage);
  }
  [[nodiscard]] std::int64_t touched(TouchedPages::Count count) const {
    const auto begin = reinterpret_cast<std::uint64_t>(at_);
    return TouchedPages(getpid()).bytes_in(begin, begin + kPages * kPage, count);
  }

 private:
  char* at_;
};

TEST(TouchedPages, AreThoseThatWereWritten) {
  Mapping mapping;
  EXPECT_EQ(mapping.touched(TouchedPages::Count::all), 0);
  mapping.touch(3, 100);
  mapping.touch(19000, 7);
  EXPECT_EQ(mapping.touched(TouchedPages::Count::all), 107 * static_cast<std::int64_t>(kPage));
}

TEST(TouchedPages, OfAForkedChildAreItsOwnOnlyWhereItWroteThem) {
  Mapping mapping;
  mapping.touch(0, 100);
  const pid_t child = fork();
  if (child == 0) {
    const bool nothing = mapping.touched(TouchedPages::Count::own) == 0;
    mapping.touch(50, 20);   // copies
    mapping.touch(200, 10);  // new ones
    const bool own = mapping.touched(TouchedPages::Count::own) == 30 * kPage;
    const bool all = mapping.touched(TouchedPages::Count::all) == 110 * kPage;
    _exit(nothing && own && all ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(TouchedPages, OfAProcessThatIsGoneAreNone) {
  EXPECT_EQ(TouchedPages(0).bytes_in(0, 1 << 20, TouchedPages::Count::all), 0);
}

}  // namespace
}  // namespace memduel
