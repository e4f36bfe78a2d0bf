// One self-contained page: a bundled script, its style and the data that it draws.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memduel {

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
