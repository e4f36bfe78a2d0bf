#include "profilers/profile/decode/trace_rounds.h"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>
#include <utility>

#include "memduel/annotate.h"
#include "profilers/profile/decode/checked_number.h"

namespace memduel {

std::uint32_t TraceRounds::phase_number(std::string_view name) {
  if (name.empty()) return 0;
  const auto known = phases_.find(name);
  if (known != phases_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(profile_.phases.size());
  profile_.phases.emplace_back(name);
  phases_.emplace(name, number);
  return number;
}

void TraceRounds::end_phase(std::int64_t now) {
  if (phase_ == 0) return;
  ProfilePeak peak = heap_.phase_peak();
  peak.round = round_;
  peak.phase = phase_;
  peak.begin_ns = phase_begin_ns_;
  peak.end_ns = now;
  profile_.phase_peaks.push_back(std::move(peak));
  phase_ = 0;
}

void TraceRounds::end_round(std::int64_t now) {
  end_phase(now);
  if (round_ == 0) return;
  ProfilePeak peak = heap_.round_peak();
  peak.round = round_;
  peak.begin_ns = round_begin_ns_;
  peak.end_ns = now;
  profile_.round_peaks.push_back(std::move(peak));
  if (now != 0) {
    for (RetentionCell& cell : heap_.survivors(round_)) {
      profile_.retention.push_back(std::move(cell));
    }
  }
  round_ = 0;
}

void TraceRounds::read_mark(TraceCursor& cursor) {
  const auto now = checked_number<std::int64_t>(cursor.number(), "time");
  const std::uint64_t kind = cursor.number();
  const std::int64_t round = cursor.signed_number();
  const std::string_view phase = cursor.text();
  ++stretch_;
  if (kind == MEMDUEL_MARK_ROUND_BEGIN) {
    if (round < 1 || round > std::numeric_limits<int>::max()) {
      throw std::out_of_range(fmt::format("round {}", round));
    }
    end_round(now);
    round_ = static_cast<int>(round);
    round_begin_ns_ = now;
    heap_.begin_round();
  } else if (kind == MEMDUEL_MARK_ROUND_END) {
    end_round(now);
  } else if (kind == MEMDUEL_MARK_PHASE) {
    end_phase(now);
    phase_ = phase_number(phase);
    phase_begin_ns_ = now;
    heap_.begin_phase();
  }
}

}  // namespace memduel
