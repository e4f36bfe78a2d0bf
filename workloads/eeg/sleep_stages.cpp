#include "workloads/eeg/sleep_stages.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace memduel {
namespace {

constexpr std::string_view kPrefix = "Sleep stage ";

struct StageName {
  std::string_view name;
  std::size_t stage;
};

// Of the AASM's manual, and of Rechtschaffen and Kales, whose 3 and 4 are N3.
constexpr StageName kNames[] = {{"W", 0},  {"N1", 1}, {"1", 1}, {"N2", 2}, {"2", 2},
                                {"N3", 3}, {"3", 3},  {"4", 3}, {"R", 4}};

std::optional<std::size_t> stage_named(std::string_view text) {
  if (!text.starts_with(kPrefix)) return std::nullopt;
  for (const StageName& known : kNames)
    if (known.name == text.substr(kPrefix.size())) return known.stage;
  return std::nullopt;
}

}  // namespace

std::vector<StagedEpoch> staged_epochs(const EegRecording& recording, int seconds,
                                       const std::string& name) {
  std::vector<StagedEpoch> epochs;
  const double length = seconds * recording.rate_hz;
  for (const EegAnnotation& annotation : recording.annotations) {
    const auto stage = stage_named(annotation.text);
    if (!stage || annotation.onset_seconds < 0) continue;
    const double begin = std::round(annotation.onset_seconds * recording.rate_hz);
    const double end = begin + std::round(annotation.duration_seconds * recording.rate_hz);
    for (double at = begin;
         at + length <= end && at + length <= static_cast<double>(recording.samples); at += length)
      epochs.push_back({static_cast<std::size_t>(at), *stage});
  }
  if (epochs.empty())
    throw Error(ExitCode::io,
                fmt::format("found {} annotations and no epoch of {} s among them, expected "
                            "\"Sleep stage W\", N1, N2, N3 or R",
                            recording.annotations.size(), seconds),
                name);
  return epochs;
}

}  // namespace memduel
