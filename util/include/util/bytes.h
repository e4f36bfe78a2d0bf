// Bytes: their units and the size of a page, variable-length numbers (LEB128, zigzag), SHA-256, and
// random digits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace memduel {

// Units of bytes, for thresholds and for numbers that people read.
inline constexpr double kKiB = 1024;
inline constexpr double kMiB = 1024 * kKiB;

/// The size of a page of memory on x86-64.
inline constexpr std::uint64_t kPageBytes = 4096;

// Whole numbers in as few bytes as they need: LEB128, seven bits to a byte, the lowest first; and
// zigzag, which makes small differences of either sign small.

inline constexpr const char* kTooLongNumber = "a number of more than 64 bits";

inline void put_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

/// Takes bytes from `next_byte`, which gives them as unsigned char and throws where there is none.
/// Absent for a number of more than 64 bits.
template <class NextByte>
std::optional<std::uint64_t> read_varint(NextByte next_byte) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const unsigned char byte = next_byte();
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

/// 0, −1, 1, −2 as 0, 1, 2, 3.
constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

constexpr std::int64_t unzigzag(std::uint64_t coded) {
  return static_cast<std::int64_t>((coded >> 1) ^ (0 - (coded & 1)));
}

// SHA-256 (OpenSSL's libcrypto); a worker-only build has none.

/// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

/// The same over a file, read in pieces. Throws Error(io).
std::string sha256_hex_of_file(const std::filesystem::path& path);

/// 32 hexadecimal digits of the kernel's random numbers.
std::string random_digits();

}  // namespace memduel
