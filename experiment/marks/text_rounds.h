// From what lines say to the marks of one role: a round ends where the next begins.
#pragma once

#include <optional>
#include <vector>

#include "experiment/marks/marks.h"
#include "experiment/marks/text_mark_pattern.h"

namespace memduel {

class TextRounds {
 public:
  /// @param lines_name_rounds when none does, the first phase begins round 1.
  explicit TextRounds(bool lines_name_rounds) : lines_name_rounds_(lines_name_rounds) {}

  /// The marks of one line, without times and sizes: idle before the first round, of a new round
  /// the end of the one before and the begin, then the phase, then the metrics. A line that names
  /// the running round again begins nothing; a number below it is passed over and counted.
  std::vector<Mark> take(const LineMarks& line);

  [[nodiscard]] int begun() const { return begun_; }
  [[nodiscard]] int out_of_order() const { return out_of_order_; }

 private:
  void begin_round(int round, std::vector<Mark>& marks);

  bool lines_name_rounds_;
  std::optional<int> running_;
  int begun_ = 0;
  int out_of_order_ = 0;
};

}  // namespace memduel
