// gzip members in memory, through zlib.
#pragma once

#include <string>
#include <string_view>

namespace memduel {

/// Whether `bytes` begin as a gzip member does (1f 8b).
inline bool is_gzip(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

/// The uncompressed bytes of one gzip member. `name` is for messages. Throws Error(io) on a corrupt
/// or truncated member and on one that would grow beyond `limit` bytes.
std::string gunzip(std::string_view bytes, const std::string& name, std::size_t limit);

}  // namespace memduel
