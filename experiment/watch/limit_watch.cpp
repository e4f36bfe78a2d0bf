#include "experiment/watch/limit_watch.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"

namespace memduel {

LimitWatch::LimitWatch(const WatchOptions& options, std::optional<MemoryLimit> limit)
    : options_(options),
      limit_(std::move(limit)),
      alarm_(options.warn_ratio, options.critical_ratio) {}

std::string LimitWatch::of_whom() const {
  return limit_->group.empty() ? "this machine" : "its control group";
}

std::optional<Note> LimitWatch::check(std::optional<int> round, double elapsed_seconds) {
  if (!limit_) return std::nullopt;
  used_bytes_ = used_bytes_of(*limit_);
  if (!used_bytes_) return std::nullopt;
  const double share = static_cast<double>(*used_bytes_) / static_cast<double>(limit_->bytes);
  const auto level = alarm_.reached(share);
  if (!level) return std::nullopt;
  const bool critical = *level == MemoryLevel::critical;
  return Note{
      critical ? "memory_critical" : "memory_warning",
      fmt::format(
          "{}: {:.0f} % of the {} of {} are used{} after {}", critical ? "critical" : "warning",
          100 * share, format_bytes(static_cast<double>(limit_->bytes)), of_whom(),
          round ? fmt::format(", in round {},", *round) : "", format_seconds(elapsed_seconds)),
      critical ? "the kernel is about to end something" : "see growth for how fast the rest goes"};
}

std::optional<WatchSnapshot::Limit> LimitWatch::state() const {
  if (!limit_ || !used_bytes_) return std::nullopt;
  return WatchSnapshot::Limit{of_whom(), static_cast<double>(limit_->bytes),
                              static_cast<double>(*used_bytes_), options_.warn_ratio,
                              options_.critical_ratio};
}

std::optional<Note> LimitWatch::limitation() const {
  if (!limit_)
    return Note{"no_memory_limit", "no memory limit could be read",
                "thresholds and projections are left out"};
  if (limit_->group.empty())
    return Note{"no_group_limit",
                "no control group of what was watched limits its memory: shares are those of the "
                "whole machine",
                ""};
  return std::nullopt;
}

}  // namespace memduel
