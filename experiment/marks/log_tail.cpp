#include "experiment/marks/log_tail.h"

#include <algorithm>
#include <fstream>

#include "base/text.h"

namespace memduel {

std::string log_tail(const std::filesystem::path& path, std::size_t max_lines,
                     std::size_t max_bytes) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const auto size = static_cast<std::streamoff>(file.tellg());
  const auto take = std::min(size, static_cast<std::streamoff>(max_bytes));
  std::string text(static_cast<std::size_t>(take), '\0');
  file.seekg(size - take);
  file.read(text.data(), take);
  text.resize(static_cast<std::size_t>(file.gcount()));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t begin = text.size();
  for (std::size_t lines = 0; lines < max_lines && begin != 0; ++lines) {
    const std::size_t newline = text.rfind('\n', begin - 1);
    begin = newline == std::string::npos ? 0 : newline;
  }
  if (begin < text.size() && text[begin] == '\n') ++begin;
  text.erase(0, begin);
  for (char& byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if ((code < 0x20 && byte != '\n' && byte != '\t') || code == 0x7f) byte = '?';
  }
  return valid_utf8(text);
}

}  // namespace memduel
