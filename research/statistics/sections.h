// The sections of the target table, and the Markdown tables that they print and that know whether a
// target was met.
#pragma once

#include <string>
#include <vector>

namespace memduel::bench {

/// Rows that were measured; prints itself and remembers whether every target holds.
class Report {
 public:
  void heading(const std::string& text);
  void columns(const std::vector<std::string>& names);
  void row(const std::vector<std::string>& cells);
  /// A number against its target; a missed one is marked in the cell.
  std::string judged(const std::string& text, bool met);
  void line(const std::string& text);
  [[nodiscard]] int missed() const { return missed_; }

 private:
  int missed_ = 0;
};

std::string percent(double share);

struct BenchOptions {
  int repetitions = 2000;
  unsigned long seed = 1;
};

void speed(Report& report);
void verdicts_by_noise(Report& report, const BenchOptions& options);
void many_gates(Report& report, const BenchOptions& options);
void false_verdicts(Report& report, const BenchOptions& options);
void places(Report& report, const BenchOptions& options);
void unequal_shapes(Report& report, const BenchOptions& options);
void power_and_equivalence(Report& report, const BenchOptions& options);
void floors_and_bounds(Report& report, const BenchOptions& options);
void minimum_detectable(Report& report, const BenchOptions& options);
void exact_counters(Report& report, const BenchOptions& options);
void adaptive(Report& report, const BenchOptions& options);
void growth(Report& report, const BenchOptions& options);
void growth_trials(Report& report, const BenchOptions& options);

}  // namespace memduel::bench
