// Any pattern on any log: no crash, and how the bytes are cut into pieces does not matter.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "trial/marks.h"
#include "util/error.h"

namespace {

/// What the log says, as text.
std::string read_all(const std::string& pattern_text, std::string_view log, std::size_t piece) {
  memduel::TextMarkPattern pattern(pattern_text);
  memduel::TextRounds rounds(pattern.names_rounds());
  memduel::TextLines lines;
  std::string said;
  const auto take = [&](std::string_view line) {
    if (line.empty() || line.size() > memduel::TextLines::kLongestLine) std::abort();
    for (const memduel::Mark& mark : rounds.take(pattern.read(line))) {
      said += std::to_string(static_cast<int>(mark.kind)) + ' ' + std::to_string(mark.round) + ' ' +
              mark.name + ' ' + std::to_string(mark.value) + '\n';
    }
  };
  for (std::size_t at = 0; at < log.size(); at += piece) lines.feed(log.substr(at, piece), take);
  lines.finish(take);
  return said;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t newline = bytes.find('\n');
  if (newline == std::string_view::npos) return 0;
  const std::string pattern(bytes.substr(0, newline));
  const std::string_view log = bytes.substr(newline + 1);
  try {
    const std::string whole = read_all(pattern, log, std::max<std::size_t>(log.size(), 1));
    if (read_all(pattern, log, 1 + size % 13) != whole) std::abort();
  } catch (const memduel::Error&) {
  }
  return 0;
}
