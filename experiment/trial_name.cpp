#include "experiment/trial_name.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>

#include "experiment/launcher/process_tree.h"

namespace memduel {
namespace {

std::uint64_t start_of(const ProcessLine& process) {
  return process.started.value_or(0);
}

}  // namespace

std::string unique_trial_name(std::int64_t id) {
  const auto self = process_line(getpid());
  return fmt::format("{}-{}-{}-{}", getpid(), self ? start_of(*self) : 0,
                     std::chrono::steady_clock::now().time_since_epoch().count(), id);
}

bool owner_has_ended(std::string_view name) {
  constexpr std::size_t kParts = 4;
  std::array<std::uint64_t, kParts> parts{};
  const char* at = name.data();
  const char* end = at + name.size();
  for (std::size_t i = 0; i < kParts; ++i) {
    if (i > 0) {
      if (at == end || *at != '-') return false;
      ++at;
    }
    const auto [rest, error] = std::from_chars(at, end, parts[i]);
    if (error != std::errc{}) return false;
    at = rest;
  }
  if (at != end || parts[0] == 0 || parts[0] > INT32_MAX) return false;
  const auto owner = process_line(static_cast<pid_t>(parts[0]));
  return !owner || is_dead(*owner) || start_of(*owner) != parts[1];
}

}  // namespace memduel
