// A watched process tree as text: a few lines that are drawn again and again on a terminal, or one
// line where there is none.
#pragma once

#include <string>
#include <vector>

#include "analysis/questions/watch_snapshot.h"
#include "reports/formats/terminal_text.h"

namespace memduel {

/// Lines of at most options.width columns.
std::vector<std::string> watch_screen(const WatchSnapshot& snapshot,
                                      const TerminalOptions& options);

/// "12 min 05 s  rss 1.25 GiB  pss 1.10 GiB  round 37  +1.00 MiB/round  limit 31 %"
std::string watch_line(const WatchSnapshot& snapshot);

/// What the watch saw, in sentences of at most `width` columns, for its end.
std::string watch_summary(const WatchSnapshot& snapshot, int width);

}  // namespace memduel
