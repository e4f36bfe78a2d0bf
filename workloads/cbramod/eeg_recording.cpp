#include "eeg_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "util/error.h"
#include "util/text.h"

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
    throw Error(
        ExitCode::io,
        fmt::format("expected an epoch of {} s with \"Sleep stage W\", N1, N2, N3 or R, found "
                    "none among {}",
                    seconds, format_count(recording.annotations.size(), "annotation")),
        name);
  return epochs;
}

namespace {

constexpr float kExtreme = 1e6F;
constexpr float kClipped = 32768.0F;

std::optional<EegFault> fault_of(float value) {
  if (!std::isfinite(value)) return EegFault::not_finite;
  const float size = std::abs(value);
  if (size > kExtreme) return EegFault::extreme;
  if (size >= kClipped) return EegFault::clipped;
  return std::nullopt;
}

/// The enumerators stand in order, the worst first.
void note(std::optional<FaultyChannel>& worst, std::size_t channel, std::size_t sample,
          EegFault fault) {
  if (!worst || fault < worst->fault) worst = FaultyChannel{channel, fault, sample, 0};
  if (fault == worst->fault) ++worst->count;
}

std::optional<FaultyChannel> scan_channel(std::size_t index, std::span<const float> values) {
  std::optional<FaultyChannel> worst;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const auto fault = fault_of(values[i])) note(worst, index, i, *fault);
  const bool varies =
      std::ranges::any_of(values, [&](float value) { return value != values.front(); });
  if (!worst && !varies) return FaultyChannel{index, EegFault::constant, 0, values.size()};
  return worst;
}

}  // namespace

const char* name_of(EegFault fault) {
  switch (fault) {
    case EegFault::not_finite:
      return "not finite";
    case EegFault::extreme:
      return "extreme, beyond 1000000";
    case EegFault::clipped:
      return "clipped, 32768 or more";
    case EegFault::constant:
      return "constant";
  }
  return "";
}

std::vector<FaultyChannel> scan(const EegRecording& recording) {
  std::vector<FaultyChannel> found;
  for (std::size_t i = 0; i < recording.channels.size(); ++i)
    if (const auto faulty = scan_channel(i, recording.channel(i))) found.push_back(*faulty);
  return found;
}

void expect_sound(const EegRecording& recording, const std::string& name) {
  const std::vector<FaultyChannel> faulty = scan(recording);
  if (faulty.empty()) return;
  const FaultyChannel& first = faulty.front();
  throw Error(
      ExitCode::io,
      fmt::format("channel \"{}\", sample {}: expected a sound signal, found {} ({} of {} "
                  "samples); {} of {} channels have such a fault",
                  recording.channels[first.channel], first.first_sample, name_of(first.fault),
                  first.count, recording.samples, faulty.size(), recording.channels.size()),
      name);
}

}  // namespace memduel
