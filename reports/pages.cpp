#include "reports/tables/encode.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>
#include <utility>

#include "base/error.h"

namespace memduel {

Gzip::Gzip() {
  constexpr int kGzipWrapper = 16;
  if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzipWrapper, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(ExitCode::io, "zlib could not be started");
}

Gzip::~Gzip() {
  deflateEnd(&stream_);
}

void Gzip::write(std::string_view bytes) {
  // zlib counts in 32 bits.
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kPiece);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream_.avail_in = static_cast<uInt>(piece.size());
    deflate_all(Z_NO_FLUSH);
    bytes.remove_prefix(piece.size());
  }
}

std::string Gzip::finish() {
  deflate_all(Z_FINISH);
  return std::move(packed_);
}

void Gzip::deflate_all(int flush) {
  std::array<char, std::size_t{1} << 16> buffer{};
  do {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream_.avail_out = static_cast<uInt>(buffer.size());
    if (deflate(&stream_, flush) == Z_STREAM_ERROR)
      throw Error(ExitCode::io, "the report's data could not be compressed");
    packed_.append(buffer.data(), buffer.size() - stream_.avail_out);
  } while (stream_.avail_out == 0);
}

std::string gzip(std::string_view bytes) {
  Gzip packed;
  packed.write(bytes);
  return packed.finish();
}

std::string base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  out.resize(static_cast<size_t>(length));
  return out;
}

std::string sha256(std::string_view bytes) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

}  // namespace memduel
