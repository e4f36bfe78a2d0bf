// A pattern whose groups say what a line of a log marks: a round, a phase, metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/metric_catalogue.h"
#include "experiment/marks/log_pattern.h"

namespace memduel {

/// What one line says.
struct LineMarks {
  bool idle = false;
  std::optional<int> round;
  std::optional<std::string> phase;
  std::vector<std::pair<std::string, double>> metrics;

  [[nodiscard]] bool empty() const { return !idle && !round && !phase && metrics.empty(); }
};

/// Named groups `idle`, `round`, `phase` and `metric_NAME`, or `higher_NAME` and `lower_NAME` where
/// they also declare which values are better; without a named group the first group is the round.
class TextMarkPattern {
 public:
  /// Throws Error(usage) for a text that is no regular expression, a named group of another name, a
  /// direction that contradicts the table of metrics, and a pattern without a group.
  explicit TextMarkPattern(const std::string& pattern);

  /// Empty when the line does not match. Counts what is found.
  LineMarks read(std::string_view line);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool names_rounds() const { return names_rounds_; }
  /// Of each metric that the pattern reads.
  [[nodiscard]] const std::vector<DeclaredDirection>& metrics() const { return metrics_; }

  std::int64_t lines_matched = 0;
  std::int64_t lines_undecided = 0;    ///< the search was given up
  std::int64_t values_unreadable = 0;  ///< a group that was to be a number and is none
  std::string unreadable_example;

 private:
  enum class Meaning { idle, round, phase, metric };
  struct Part {
    Meaning meaning = Meaning::round;
    std::string metric;
    std::size_t group = 1;
  };
  Part part_of(const LogPattern::Group& group);
  void take(const Part& part, std::string_view text, LineMarks& marks);
  void unreadable(std::string_view text);

  std::string text_;
  LogPattern pattern_;
  std::vector<Part> parts_;
  std::vector<DeclaredDirection> metrics_;
  bool names_rounds_ = false;
};

}  // namespace memduel
