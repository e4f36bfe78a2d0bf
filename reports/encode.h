// Bytes on their way into a page.
#pragma once

#include <string>
#include <string_view>

namespace memduel {

/// A gzip member (RFC 1952) with zlib's default effort and no time stamp, so equal input gives
/// equal output.
std::string gzip(std::string_view bytes);

/// RFC 4648 base64 with padding, on one line.
std::string base64(std::string_view bytes);

/// The 32 raw bytes.
std::string sha256(std::string_view bytes);

}  // namespace memduel
