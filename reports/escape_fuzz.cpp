// Whatever bytes somebody else wrote, no format lets them be more than text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "escape.h"
#include "util/text.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace memduel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string valid = valid_utf8(std::string(text));
  require(valid_utf8(valid) == valid);
  require(count_characters(valid) <= size);

  require(escape_markup(text).find_first_of("<>\"'") == std::string::npos);

  const std::string markdown = escape_markdown(text);
  require(markdown.find_first_of("<>\n\r@") == std::string::npos);

  for (const char c : escape_terminal(text)) require(static_cast<unsigned char>(c) >= 0x20);

  const std::string csv = escape_csv(text);
  const bool quoted = csv.size() >= 2 && csv.front() == '"' && csv.back() == '"';
  require(quoted || csv.find_first_of(",\"\r\n") == std::string::npos);
  return 0;
}
