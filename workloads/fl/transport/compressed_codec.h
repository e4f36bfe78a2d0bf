// A model state as compressed bytes: what a client uploads under switch compression.
//
//   offset  bytes  what (little-endian)
//   0       4      "MDCS"
//   4       4      version, 1
//   8       …      the state's table, as in fl/transport.h: it says what the data expands to
//   …       …      for each tensor its pieces of 262,144 elements, the last one shorter; per piece
//                  u8 codec (1 blosc, 2 zfp), u32 size, with zfp f64 tolerance, then `size` bytes
//
// APPFL compresses on the way up only and sends the result as one object, never in chunks. It makes
// a tensor's data one compressed object; pieces keep the buffers small and let the reader check
// every size before it allocates. Its lossy compressor of choice, SZ2, is not packaged for Debian:
// zfp in fixed-accuracy mode stands in for it, as in APPFL's own ZFPCompressor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fl/transport.h"

namespace memduel {

// As in APPFL's own configurations.
/// error_bound under REL: of the range of a tensor's values, largest minus smallest.
inline constexpr double kRelativeErrorBound = 1e-3;
/// param_cutoff: tensors of up to so many elements stay lossless.
inline constexpr std::size_t kParameterCutoff = 1024;

// has_compressors() is in fl/transport.h; without compressors none of these functions may be
// called.

/// By how much a lossy codec may change each value of a tensor: kRelativeErrorBound × range. Absent
/// where the tensor must stay lossless: integers, names without "weight" and small tensors (APPFL's
/// own rule); values that are not finite or all equal; and ranges so small or values so large that
/// rounding to the element type alone could exceed the bound.
std::optional<double> lossy_tolerance(const TensorRecord& record, std::string_view data);

/// One tensor's pieces: lossless by blosc (byte shuffle, blosclz, level 9: python-blosc's
/// defaults), or by zfp where a tolerance is given. @param record with bytes equal to data.size().
Bytes compress_tensor(const TensorRecord& record, std::string_view data,
                      std::optional<double> tolerance);

/// The bytes that come before the tensors' pieces.
std::string encode_compressed_head(const StateTable& table);

struct CompressedPiece {
  std::uint8_t codec = 0;
  double tolerance = 0;  ///< zfp
  std::string_view bytes;
};

struct CompressedState {
  StateTable table;
  std::vector<std::vector<CompressedPiece>> pieces;  ///< per tensor; they view the encoded bytes
};

/// Checks all sizes, and allocates nothing of the sizes that are claimed: a state that would be
/// more than 1,024 times as large as its bytes is refused. Throws Error(cannot_measure) naming the
/// byte and the tensor.
CompressedState decode_compressed(std::string_view bytes, const std::string& from);

/// Expands a tensor's pieces to `record.bytes` bytes at `to`. Throws Error(cannot_measure) for
/// bytes that do not expand to that.
void expand_tensor(const TensorRecord& record, const std::vector<CompressedPiece>& pieces, char* to,
                   const std::string& from);

}  // namespace memduel
