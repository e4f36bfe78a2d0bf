#include "bench/statistics/table.h"

#include <fmt/format.h>

namespace memduel::bench {

void Report::heading(const std::string& text) {
  fmt::print("\n### {}\n\n", text);
}

void Report::columns(const std::vector<std::string>& names) {
  row(names);
  row(std::vector<std::string>(names.size(), "---"));
}

void Report::row(const std::vector<std::string>& cells) {
  for (const std::string& cell : cells) fmt::print("| {} ", cell);
  fmt::print("|\n");
}

std::string Report::judged(const std::string& text, bool met) {
  if (!met) ++missed_;
  return met ? text : fmt::format("**{} MISSED**", text);
}

void Report::line(const std::string& text) {
  fmt::print("{}\n", text);
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

}  // namespace memduel::bench
