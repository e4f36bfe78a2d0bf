// When a recorded program takes a snapshot of its resident memory.
#pragma once

#include <string>

namespace memduel {

struct SnapshotRule {
  std::string text;  ///< as the recorder reads it, see profilers/recorder/snapshot.h
};

/// A snapshot that holds at least so much of the peak that the run turns out to have. A peak below
/// `from_bytes` was not expected, and is held by 3/4; 0 where nothing is known of it.
SnapshotRule snapshot_at_peak(int percent, double from_bytes = 0);

/// From `rss=P%`, `rss=BYTES`, `mark=ROUND`, `mark=ROUND/PHASE` or `signal`. `peak_bytes` is the
/// peak of an earlier run, or 0. Throws Error(usage) naming what was found and expected.
SnapshotRule snapshot_rule_from(const std::string& word, double peak_bytes = 0);

}  // namespace memduel
