// A Markdown table whose cells know whether a target was met.
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

}  // namespace memduel::bench
