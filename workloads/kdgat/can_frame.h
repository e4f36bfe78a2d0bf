// One message on a car's bus.
#pragma once

#include <array>
#include <cstdint>

namespace memduel {

/// The largest identifier of the extended format, 29 bits.
inline constexpr std::uint32_t kMostCanId = 0x1fffffff;
inline constexpr std::size_t kMostCanBytes = 8;

struct CanFrame {
  std::int64_t time_us = 0;  ///< as the log has it: microseconds since 1970
  std::uint32_t id = 0;
  std::uint8_t length = 0;  ///< of `bytes`; those behind are 0
  bool attack = false;      ///< injected, by what the log or the injection says
  std::array<std::uint8_t, kMostCanBytes> bytes{};

  friend bool operator==(const CanFrame&, const CanFrame&) = default;
};

}  // namespace memduel
