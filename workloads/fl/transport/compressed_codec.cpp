#include "compressed_codec.h"

#include <blosc.h>
#include <fmt/format.h>
#include <zfp.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "little_endian.h"
#include "util/error.h"

namespace memduel {
namespace {

constexpr std::string_view kMagic = "MDCS";
constexpr std::uint32_t kCompressedVersion = 1;
constexpr std::size_t kHeadBytes = 8;
constexpr std::size_t kPieceElements = std::size_t{1} << 18;
constexpr std::uint8_t kBlosc = 1;
constexpr std::uint8_t kZfp = 2;
// Zeros shrink 250-fold under blosc, 128-fold under zfp.
constexpr std::size_t kMostExpansion = 1024;

/// A piece's share of a tensor.
std::size_t elements_of(const TensorRecord& record) {
  return record.bytes / element_size(record.dtype);
}
std::size_t pieces_of(const TensorRecord& record) {
  return (elements_of(record) + kPieceElements - 1) / kPieceElements;
}
std::size_t piece_elements(const TensorRecord& record, std::size_t piece) {
  return std::min(kPieceElements, elements_of(record) - piece * kPieceElements);
}

// ---- zfp -------------------------------------------------------------------------------------

struct CloseField {
  void operator()(zfp_field* field) const { zfp_field_free(field); }
};
struct CloseStream {
  void operator()(zfp_stream* stream) const { zfp_stream_close(stream); }
};
struct CloseBits {
  void operator()(bitstream* bits) const { stream_close(bits); }
};

/// One piece as zfp sees it: a row of numbers within a tolerance.
class ZfpRow {
 public:
  ZfpRow(void* numbers, std::size_t count, Dtype dtype, double tolerance)
      : field_(zfp_field_1d(numbers, dtype == Dtype::float64 ? zfp_type_double : zfp_type_float,
                            count)),
        stream_(zfp_stream_open(nullptr)) {
    zfp_stream_set_accuracy(stream_.get(), tolerance);
    // Room for every bit that a decoder could ask for, whatever the bytes say: zfp does not check.
    words_.resize((zfp_stream_maximum_size(stream_.get(), field_.get()) + count) / 8 + 8);
  }

  /// The compressed bytes, which live as long as the row; nothing where zfp failed.
  std::string_view compress() {
    open();
    const std::size_t size = zfp_compress(stream_.get(), field_.get());
    return {reinterpret_cast<const char*>(words_.data()), size};
  }

  [[nodiscard]] std::size_t most_bytes() const { return words_.size() * 8; }

  /// @param bytes at most most_bytes().
  bool expand(std::string_view bytes) {
    std::memcpy(words_.data(), bytes.data(), bytes.size());
    open();
    return zfp_decompress(stream_.get(), field_.get()) != 0;
  }

 private:
  void open() {
    bits_.reset(stream_open(words_.data(), words_.size() * 8));
    zfp_stream_set_bit_stream(stream_.get(), bits_.get());
    zfp_stream_rewind(stream_.get());
  }

  std::unique_ptr<zfp_field, CloseField> field_;
  std::unique_ptr<zfp_stream, CloseStream> stream_;
  std::unique_ptr<bitstream, CloseBits> bits_;
  std::vector<std::uint64_t> words_;
};

void append_zfp(Bytes& out, const TensorRecord& record, const char* data, std::size_t count,
                double tolerance) {
  // zfp only reads, through a pointer that is not const.
  ZfpRow row(const_cast<char*>(data), count, record.dtype, tolerance);
  const std::string_view packed = row.compress();
  if (packed.empty())
    throw Error(ExitCode::cannot_measure, fmt::format("tensor {}: zfp failed", record.name));
  std::string head;
  put_little_endian(head, kZfp);
  put_little_endian(head, static_cast<std::uint32_t>(packed.size()));
  put_little_endian(head, std::bit_cast<std::uint64_t>(tolerance));
  out.append(head);
  out.append(packed);
}

// ---- blosc -----------------------------------------------------------------------------------

void append_blosc(Bytes& out, const TensorRecord& record, const char* data, std::size_t count) {
  constexpr int kLevel = 9;
  const std::size_t size = count * element_size(record.dtype);
  std::vector<char> packed(size + BLOSC_MAX_OVERHEAD);
  // The variant without global state: handlers compress at the same time.
  const int used = blosc_compress_ctx(kLevel, BLOSC_SHUFFLE, element_size(record.dtype), size, data,
                                      packed.data(), packed.size(), BLOSC_BLOSCLZ_COMPNAME, 0, 1);
  if (used <= 0)
    throw Error(ExitCode::cannot_measure,
                fmt::format("tensor {}: blosc failed with {}", record.name, used));
  std::string head;
  put_little_endian(head, kBlosc);
  put_little_endian(head, static_cast<std::uint32_t>(used));
  out.append(head);
  out.append({packed.data(), static_cast<std::size_t>(used)});
}

// ---- reading ---------------------------------------------------------------------------------

[[noreturn]] void fail(const std::string& what, const std::string& from) {
  throw Error(ExitCode::cannot_measure, "malformed compressed state: " + what, from);
}

class PieceTable {
 public:
  PieceTable(std::string_view bytes, std::size_t position, const std::string& from)
      : bytes_(bytes), position_(position), from_(from) {}

  CompressedPiece next(const TensorRecord& record) {
    CompressedPiece piece;
    piece.codec = number<std::uint8_t>(record);
    const auto size = number<std::uint32_t>(record);
    if (piece.codec == kZfp) {
      piece.tolerance = std::bit_cast<double>(number<std::uint64_t>(record));
    } else if (piece.codec != kBlosc) {
      fail(fmt::format("tensor {}: unknown codec {} before byte {}", record.name, piece.codec,
                       position_),
           from_);
    }
    piece.bytes = take(size, record);
    return piece;
  }

  [[nodiscard]] std::size_t left() const { return bytes_.size() - position_; }

 private:
  std::string_view take(std::size_t size, const TensorRecord& record) {
    if (size > left())
      fail(fmt::format("tensor {} ends early: {} bytes wanted at byte {}, {} left", record.name,
                       size, position_, left()),
           from_);
    const std::string_view taken = bytes_.substr(position_, size);
    position_ += size;
    return taken;
  }

  template <class Number>
  Number number(const TensorRecord& record) {
    const std::string_view raw = take(sizeof(Number), record);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i)
      value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(raw[i])) << (8 * i);
    return static_cast<Number>(value);
  }

  std::string_view bytes_;
  std::size_t position_;
  const std::string& from_;
};

/// A piece that can be expanded safely to what the table says, as far as that shows from outside.
void check_piece(const TensorRecord& record, const CompressedPiece& piece, std::size_t count,
                 const std::string& from) {
  if (piece.codec == kZfp) {
    if (record.dtype != Dtype::float32 && record.dtype != Dtype::float64)
      fail(fmt::format("tensor {}: zfp on integers", record.name), from);
    if (!std::isfinite(piece.tolerance) || piece.tolerance <= 0)
      fail(fmt::format("tensor {}: a tolerance of {}", record.name, piece.tolerance), from);
    return;
  }
  const std::size_t expected = count * element_size(record.dtype);
  std::size_t found = 0;
  if (blosc_cbuffer_validate(piece.bytes.data(), piece.bytes.size(), &found) != 0 ||
      found != expected)
    fail(fmt::format("tensor {}: a piece of {} bytes is no blosc buffer of {}", record.name,
                     piece.bytes.size(), expected),
         from);
}

void expand_piece(const TensorRecord& record, const CompressedPiece& piece, std::size_t count,
                  char* to, const std::string& from) {
  const std::size_t size = count * element_size(record.dtype);
  bool whole = false;
  if (piece.codec == kZfp) {
    ZfpRow row(to, count, record.dtype, piece.tolerance);
    whole = piece.bytes.size() <= row.most_bytes() && row.expand(piece.bytes);
  } else {
    whole = blosc_decompress_ctx(piece.bytes.data(), to, size, 1) == static_cast<int>(size);
  }
  if (!whole)
    fail(fmt::format("tensor {}: a piece of {} bytes does not expand to {}", record.name,
                     piece.bytes.size(), size),
         from);
}

// ---- the bound -------------------------------------------------------------------------------

template <class Number>
std::optional<double> tolerance_of(std::string_view data) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (std::size_t at = 0; at < data.size(); at += sizeof(Number)) {
    Number value;
    std::memcpy(&value, data.data() + at, sizeof value);
    if (!std::isfinite(value)) return std::nullopt;
    least = std::min(least, static_cast<double>(value));
    most = std::max(most, static_cast<double>(value));
  }
  const double tolerance = kRelativeErrorBound * (most - least);
  const double largest = std::max(std::abs(least), std::abs(most));
  // zfp computes in integers of the type's width around a block's largest exponent and rounds what
  // it gives back to the type: 16 units in the last place leave room for both.
  constexpr double kEpsilon = std::numeric_limits<Number>::epsilon();
  const bool too_fine = tolerance < 16 * kEpsilon * largest ||
                        tolerance < std::numeric_limits<Number>::min() / kEpsilon;
  const bool too_large = largest > std::numeric_limits<Number>::max() / 8;
  if (too_fine || too_large || !(tolerance > 0) || !std::isfinite(tolerance)) return std::nullopt;
  return tolerance;
}

}  // namespace

bool has_compressors() {
  return true;
}

std::optional<double> lossy_tolerance(const TensorRecord& record, std::string_view data) {
  if (record.name.find("weight") == std::string::npos) return std::nullopt;
  if (elements_of(record) <= kParameterCutoff) return std::nullopt;
  if (record.dtype == Dtype::float32) return tolerance_of<float>(data);
  if (record.dtype == Dtype::float64) return tolerance_of<double>(data);
  return std::nullopt;
}

Bytes compress_tensor(const TensorRecord& record, std::string_view data,
                      std::optional<double> tolerance) {
  Bytes out;
  for (std::size_t piece = 0; piece < pieces_of(record); ++piece) {
    const char* const from = data.data() + piece * kPieceElements * element_size(record.dtype);
    const std::size_t count = piece_elements(record, piece);
    if (tolerance)
      append_zfp(out, record, from, count, *tolerance);
    else
      append_blosc(out, record, from, count);
  }
  return out;
}

std::string encode_compressed_head(const StateTable& table) {
  std::string head(kMagic);
  put_little_endian(head, kCompressedVersion);
  return head + encode_table(table);
}

CompressedState decode_compressed(std::string_view bytes, const std::string& from) {
  if (bytes.size() < kHeadBytes || bytes.substr(0, kMagic.size()) != kMagic)
    fail(fmt::format("found {} bytes that do not begin with \"{}\"", bytes.size(), kMagic), from);
  std::string version;
  put_little_endian(version, kCompressedVersion);
  if (bytes.substr(kMagic.size(), version.size()) != version)
    fail(fmt::format("the version is not {}", kCompressedVersion), from);
  CompressedState state{decode_table(bytes.substr(kHeadBytes), from), {}};
  if (state.table.total_bytes / kMostExpansion > bytes.size())
    fail(fmt::format("{} bytes claim to be a state of {}", bytes.size(), state.table.total_bytes),
         from);
  PieceTable table(bytes, kHeadBytes + state.table.table_bytes, from);
  for (const TensorRecord& record : state.table.tensors) {
    std::vector<CompressedPiece>& pieces = state.pieces.emplace_back();
    for (std::size_t piece = 0; piece < pieces_of(record); ++piece) {
      pieces.push_back(table.next(record));
      check_piece(record, pieces.back(), piece_elements(record, piece), from);
    }
  }
  if (table.left() != 0) fail(fmt::format("{} bytes follow it", table.left()), from);
  return state;
}

void expand_tensor(const TensorRecord& record, const std::vector<CompressedPiece>& pieces, char* to,
                   const std::string& from) {
  for (std::size_t piece = 0; piece < pieces.size(); ++piece)
    expand_piece(record, pieces[piece], piece_elements(record, piece),
                 to + piece * kPieceElements * element_size(record.dtype), from);
}

}  // namespace memduel
