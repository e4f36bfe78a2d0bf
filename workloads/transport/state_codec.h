// A model state as bytes: a table of tensors, then their data.
//
//   offset  bytes  what (little-endian)
//   0       4      "MDST"
//   4       4      version, 1
//   8       8      bytes of the table: from offset 0 to the first data, a multiple of 64
//   16      8      bytes of the whole state
//   24      4      number of tensors
//   28      …      per tensor: u16 name length, name, u8 dtype, u8 dimensions, u64 each dimension
//   …       …      zeros up to the table's size, then each tensor's data at the next multiple of
//                  64, zeros between
//
// Offsets are not stored: they follow from the shapes, so that they cannot contradict them. Data
// aligned to 64 bytes lets a receiver use it in place. The price: up to 63 bytes per tensor.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memduel {

/// Element types that FL states hold; the numbers stand on the wire.
enum class Dtype : std::uint8_t { float32 = 0, float64 = 1, int32 = 2, int64 = 3 };

std::size_t element_size(Dtype dtype);
std::string_view dtype_name(Dtype dtype);

/// One tensor of a state, without its data.
struct TensorRecord {
  std::string name;
  Dtype dtype = Dtype::float32;
  std::vector<std::int64_t> shape;
  std::size_t bytes = 0;   ///< elements × element size; set by layout_table and the decoder
  std::size_t offset = 0;  ///< from the start of the encoded state; likewise

  [[nodiscard]] std::string shape_text() const;  ///< "[64, 3, 3, 3]"
};

struct StateTable {
  std::vector<TensorRecord> tensors;
  std::size_t table_bytes = 0;
  std::size_t total_bytes = 0;
};

inline constexpr std::size_t kTableAlignment = 64;
inline constexpr std::size_t kTablePrefixBytes = 28;
/// A table larger than this is refused: 4,000 tensors with long names need 0.5 MB.
inline constexpr std::size_t kMostTableBytes = std::size_t{64} << 20;

/// Fills in bytes, offsets and totals for tensors with name, dtype and shape.
StateTable layout_table(std::vector<TensorRecord> tensors);

/// The table's bytes, exactly `table_bytes` long.
std::string encode_table(const StateTable& table);

/// The table's size in bytes, from the first kTablePrefixBytes. `from` names the sender in
/// messages. Throws Error(cannot_measure) naming offset, found and expected.
std::size_t table_size(std::string_view prefix, const std::string& from);

/// Reads a table; `bytes` holds at least the whole table. Checks magic, version, sizes, names
/// (not empty, no two alike) and that the claimed total is what the shapes give.
StateTable decode_table(std::string_view bytes, const std::string& from);

/// Throws Error(cannot_measure) naming the first tensor that is missing, extra, or differs in dtype
/// or shape from `expected`.
void expect_same_tensors(const StateTable& found, const StateTable& expected,
                         const std::string& from);

}  // namespace memduel
