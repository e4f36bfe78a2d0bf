// Rounds and phases of a trace while it is replayed, and the peaks of each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "profilers/profile/decode/live_heap.h"
#include "profilers/profile/decode/trace_file.h"
#include "profilers/profile/model/profile.h"

namespace memduel {

class TraceRounds {
 public:
  /// Phases, peaks and what rounds leave behind go to `profile`; `heap` knows the peaks. Both must
  /// outlive this.
  TraceRounds(Profile& profile, LiveHeap& heap) : profile_(profile), heap_(heap) {}

  /// Throws std::out_of_range where the mark makes no sense.
  void read_mark(TraceCursor& cursor);
  /// The trace ends here: a round that runs is whole as far as it goes.
  void finish() { end_round(0); }

  /// 0 for no name.
  std::uint32_t phase_number(std::string_view name);
  [[nodiscard]] int round() const { return round_; }
  [[nodiscard]] std::uint32_t phase() const { return phase_; }
  /// Between two marks, counted from 0.
  [[nodiscard]] std::uint32_t stretch() const { return stretch_; }

 private:
  void end_phase(std::int64_t now);
  void end_round(std::int64_t now);

  Profile& profile_;
  LiveHeap& heap_;
  std::map<std::string, std::uint32_t, std::less<>> phases_;
  int round_ = 0;
  std::int64_t round_begin_ns_ = 0;
  std::uint32_t phase_ = 0;
  std::int64_t phase_begin_ns_ = 0;
  std::uint32_t stretch_ = 0;
};

}  // namespace memduel
