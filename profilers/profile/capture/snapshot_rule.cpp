#include "profilers/profile/capture/snapshot_rule.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace memduel {
namespace {

[[noreturn]] void refuse_rule(const std::string& word) {
  throw Error(ExitCode::usage,
              fmt::format("found \"{}\", expected rss=P%, rss=BYTES, mark=ROUND, mark=ROUND/PHASE "
                          "or signal",
                          word),
              "--snapshot-at", "for example rss=97%, rss=900MiB or mark=3/aggregate");
}

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc() || stopped != end) return std::nullopt;
  return number;
}

std::string mark_rule(std::string_view place, const std::string& word) {
  const std::size_t slash = place.find('/');
  const auto round = whole_number(place.substr(0, slash));
  if (!round || *round < 0) refuse_rule(word);
  const std::string_view phase =
      slash == std::string_view::npos ? std::string_view() : place.substr(slash + 1);
  if (slash != std::string_view::npos && phase.empty()) refuse_rule(word);
  return fmt::format("mark {} {}", *round, phase);
}

}  // namespace

SnapshotRule snapshot_at_peak(int percent, double from_bytes) {
  return {fmt::format("peak {} {:.0f}", percent, std::floor(from_bytes * percent / 100))};
}

SnapshotRule snapshot_rule_from(const std::string& word, double peak_bytes) {
  const std::string_view text = word;
  if (text == "signal") return {"signal"};
  if (text.starts_with("mark=")) return {mark_rule(text.substr(5), word)};
  if (!text.starts_with("rss=")) refuse_rule(word);
  const std::string_view amount = text.substr(4);
  if (amount.ends_with('%')) {
    const auto percent = whole_number(amount.substr(0, amount.size() - 1));
    if (!percent || *percent < 1 || *percent > 100) refuse_rule(word);
    return snapshot_at_peak(*percent, peak_bytes);
  }
  const auto bytes = parse_bytes(amount);
  if (!bytes || *bytes < 1) refuse_rule(word);
  return {fmt::format("rss {:.0f}", *bytes)};
}

}  // namespace memduel
