// Marks that a program sends through memduel/annotate.h: the text lines and what they mean.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/metric_catalogue.h"

namespace memduel {

/// Memory of a process at a mark, in bytes; absent where its kernel does not say.
struct MarkSizes {
  std::optional<std::int64_t> peak;  ///< VmHWM of the stretch that ends at this mark
  std::optional<std::int64_t> rss;
  std::optional<std::int64_t> anon;
  std::optional<std::int64_t> file;
};

struct Mark {
  enum class Kind { start, idle, round_begin, round_end, phase, gauge };

  Kind kind = Kind::start;
  std::int64_t t_ns = 0;  ///< CLOCK_MONOTONIC; 0 for start
  pid_t pid = 0;          ///< start
  bool no_reset = false;  ///< start: VmHWM cannot be reset, so peaks are those of the whole life
  int round = 0;          ///< round_begin, round_end
  std::string name;       ///< phase (empty: the phase ends), gauge
  double value = 0;       ///< gauge
  Direction better = Direction::undeclared;  ///< gauge
  MarkSizes sizes;
};

/// One line without its newline; nothing when it is not a mark. The format is described in
/// include/memduel/annotate.h.
std::optional<Mark> parse_mark(std::string_view line);

/// Cuts a byte stream into lines: a line that is torn over several reads is put together again, one
/// that is too long to be a mark is dropped.
class MarkReader {
 public:
  std::vector<Mark> feed(std::string_view bytes);

  /// Lines that were no marks.
  [[nodiscard]] int garbage_lines() const { return garbage_lines_; }

 private:
  std::string rest_;
  bool skipping_ = false;
  int garbage_lines_ = 0;
};

}  // namespace memduel
