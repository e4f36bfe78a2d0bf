#include "workloads/eeg/integrity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace memduel {
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
      fmt::format("channel \"{}\", sample {}: found {} ({} of {} samples), expected a "
                  "sound signal; {} of {} channels have such a fault",
                  recording.channels[first.channel], first.first_sample, name_of(first.fault),
                  first.count, recording.samples, faulty.size(), recording.channels.size()),
      name);
}

}  // namespace memduel
