#include "bench/statistics/table.h"

#include <fmt/format.h>

#include <boost/math/distributions/binomial.hpp>

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

Interval clopper_pearson(int hits, int n) {
  using Binomial = boost::math::binomial_distribution<>;
  return {hits == 0 ? 0 : Binomial::find_lower_bound_on_p(n, hits, 0.025),
          hits == n ? 1 : Binomial::find_upper_bound_on_p(n, hits, 0.025)};
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

}  // namespace memduel::bench
