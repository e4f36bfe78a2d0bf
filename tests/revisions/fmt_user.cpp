// Formats 100,000 lines of numbers and text and keeps them.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

std::vector<std::string> lines(int count) {
  std::vector<std::string> kept;
  for (int i = 0; i < count; ++i)
    kept.push_back(
        fmt::format("{:>8} {:<20} {:.3f} {:#x}", i, fmt::format("row {}", i), i / 7.0, i));
  return kept;
}

int main() {
  const std::vector<std::string> kept = lines(100000);
  fmt::memory_buffer all;
  for (const std::string& line : kept) fmt::format_to(std::back_inserter(all), "{}|", line);
  std::printf("%zu bytes\n", all.size());
}
