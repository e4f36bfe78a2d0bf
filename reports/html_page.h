// The frame of an HTML page that opens from disk, and how bytes get into it: gzip, base64, SHA-256.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memduel {

/// A gzip member (RFC 1952) with zlib's default effort and no time stamp, so that equal input gives
/// equal output, whatever the number of cores that pack it.
std::string gzip(std::string_view bytes);

/// RFC 4648 base64 with padding, on one line.
std::string base64(std::string_view bytes);

/// The 32 raw bytes.
std::string sha256(std::string_view bytes);

/// Data that the script unpacks when it is asked for; in the head, where no redrawing removes them.
struct PageAttachment {
  std::string id;           ///< of its element
  std::string_view packed;  ///< gzip, base64
};

struct Page {
  std::string title;
  std::string packed_data;  ///< gzip; the script finds it in base64, in #memduel-data
  std::string_view script;
  std::string_view style;
  // NOLINTNEXTLINE(readability-redundant-member-init): -Wextra
  std::vector<PageAttachment> attachments = {};
};

/// Opens from disk, asks nobody for anything and runs no script but its own.
std::string render_page(const Page& page);

}  // namespace memduel
