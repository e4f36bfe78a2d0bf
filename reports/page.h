// One self-contained page: a bundled script, its style and the data that it draws.
#pragma once

#include <string>
#include <string_view>

namespace memduel {

struct Page {
  std::string title;
  std::string_view data;  ///< the script finds it gzipped, in base64, in #memduel-data
  std::string_view script;
  std::string_view style;
};

/// Opens from disk, asks nobody for anything and runs no script but its own.
std::string render_page(const Page& page);

}  // namespace memduel
