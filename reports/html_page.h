// Bytes on their way into a page.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

namespace memduel {

/// Makes a gzip member (RFC 1952) with zlib's default effort and no time stamp, so that equal input
/// gives equal output.
class Gzip {
 public:
  Gzip();
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip();

  void write(std::string_view bytes);
  /// All of it. Ends the member.
  std::string finish();

 private:
  void deflate_all(int flush);

  z_stream stream_{};
  std::string packed_;
};

std::string gzip(std::string_view bytes);

/// RFC 4648 base64 with padding, on one line.
std::string base64(std::string_view bytes);

/// The 32 raw bytes.
std::string sha256(std::string_view bytes);

}  // namespace memduel
