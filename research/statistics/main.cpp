// Prints the tables of results.md and exits 1 when a target is missed:
//   build/release/bin/memduel-bench-statistics [REPETITIONS [SEED [SECTION…]]]

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include "sections.h"

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
  return fmt::format("{:.1f}%", 100 * share);
}

}  // namespace memduel::bench

namespace {

using Section = void (*)(memduel::bench::Report&, const memduel::bench::BenchOptions&);

void speed_first(memduel::bench::Report& report, const memduel::bench::BenchOptions&) {
  memduel::bench::speed(report);
}

constexpr std::pair<std::string_view, Section> kSections[] = {
    // First, while the program has used no other memory.
    {"speed", speed_first},
    {"verdicts_by_noise", memduel::bench::verdicts_by_noise},
    {"many_gates", memduel::bench::many_gates},
    {"false_verdicts", memduel::bench::false_verdicts},
    {"places", memduel::bench::places},
    {"unequal_shapes", memduel::bench::unequal_shapes},
    {"power_and_equivalence", memduel::bench::power_and_equivalence},
    {"floors_and_bounds", memduel::bench::floors_and_bounds},
    {"minimum_detectable", memduel::bench::minimum_detectable},
    {"exact_counters", memduel::bench::exact_counters},
    {"adaptive", memduel::bench::adaptive},
    {"growth", memduel::bench::growth},
    {"growth_trials", memduel::bench::growth_trials},
};

int run(int argc, char** argv) {
  memduel::bench::BenchOptions options;
  if (argc > 1) options.repetitions = std::atoi(argv[1]);
  if (argc > 2) options.seed = std::strtoul(argv[2], nullptr, 10);
  const std::vector<std::string_view> named(argv + std::min(argc, 3), argv + argc);
  const auto is_section = [](std::string_view name) {
    return std::ranges::any_of(kSections,
                               [&](const auto& section) { return section.first == name; });
  };
  if (options.repetitions < 1 || !std::ranges::all_of(named, is_section)) {
    fmt::print(stderr, "usage: memduel-bench-statistics [REPETITIONS [SEED [SECTION...]]]\n");
    return 2;
  }
  memduel::bench::Report report;
  report.line(
      fmt::format("{} repetitions in each cell, seed {}.", options.repetitions, options.seed));
  for (const auto& [name, section] : kSections)
    if (named.empty() || std::ranges::find(named, name) != named.end()) section(report, options);
  report.line(fmt::format("\n{} targets missed.", report.missed()));
  return report.missed() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
