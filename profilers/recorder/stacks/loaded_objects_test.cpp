#include "loaded_objects.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "cfi.h"

namespace memduel::recorder {
namespace {

constexpr std::uintptr_t kPage = 4096;

/// The first whole pages of the tables of `module`.
std::vector<std::uintptr_t> table_pages(const dl_find_object& module, std::uintptr_t count) {
  std::vector<std::uintptr_t> pages(count);
  const auto tables = reinterpret_cast<std::uintptr_t>(module.dlfo_eh_frame);
  for (std::uintptr_t i = 0; i < count; ++i) pages[i] = (tables / kPage + 1 + i) * kPage;
  return pages;
}

int touch(const std::vector<std::uintptr_t>& pages) {
  return std::accumulate(pages.begin(), pages.end(), 0, [](int sum, std::uintptr_t page) {
    return sum + *reinterpret_cast<const volatile unsigned char*>(page);
  });
}

int resident(const std::vector<std::uintptr_t>& pages) {
  const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  int present = 0;
  for (const std::uintptr_t page : pages) {
    std::uint64_t entry = 0;
    EXPECT_EQ(pread(pagemap, &entry, sizeof entry, static_cast<off_t>(page / kPage * sizeof entry)),
              static_cast<ssize_t>(sizeof entry));
    present += static_cast<int>(entry >> 63);
  }
  close(pagemap);
  return present;
}

TEST(UnwindTables, AreGivenBackNowAndThenAndSayTheSameAfterwards) {
  // In libstdc++, whose tables are hundreds of KiB.
  const auto function = reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, "__cxa_throw"));
  dl_find_object module{};
  ASSERT_EQ(_dl_find_object(reinterpret_cast<void*>(function), &module), 0);
  ASSERT_NE(module.dlfo_eh_frame, nullptr);
  look_up_find_object();
  const UnwindRule before = find_unwind_rule(function);
  ASSERT_NE(before.cfa, UnwindRule::unsupported);

  const auto pages = table_pages(module, 16);
  const int sum = touch(pages);
  EXPECT_EQ(resident(pages), 16);
  int least = 16;
  for (int i = 0; i < 64; ++i) {
    tables_were_read(module);
    least = std::min(least, resident(pages));
  }
  EXPECT_EQ(least, 0);
  EXPECT_EQ(touch(pages), sum);
  EXPECT_EQ(find_unwind_rule(function), before);
}

}  // namespace
}  // namespace memduel::recorder
