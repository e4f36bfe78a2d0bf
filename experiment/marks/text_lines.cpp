#include "experiment/marks/text_lines.h"

#include <algorithm>

namespace memduel {
namespace {

/// A program that goes on writing where it was after its log was cut leaves a hole of zeros.
std::string_view without_hole(std::string_view piece) {
  piece.remove_prefix(std::min(piece.find_first_not_of('\0'), piece.size()));
  return piece;
}

}  // namespace

void TextLines::append(std::string_view piece) {
  if (rest_.empty()) piece = without_hole(piece);
  rest_.append(piece.substr(0, kLongestLine - rest_.size()));
}

void TextLines::end_line(std::string_view piece, const Take& take) {
  if (rest_.empty()) {
    piece = without_hole(piece).substr(0, kLongestLine);
  } else {
    append(piece);
    piece = rest_;
  }
  if (!piece.empty()) {
    ++count_;
    take(piece);
  }
  rest_.clear();
}

void TextLines::feed(std::string_view bytes, const Take& take) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    std::string_view line = bytes.substr(0, newline);
    for (std::size_t end = line.find('\r'); end != std::string_view::npos; end = line.find('\r')) {
      end_line(line.substr(0, end), take);
      line.remove_prefix(end + 1);
    }
    if (newline == std::string_view::npos) {
      append(line);
      return;
    }
    end_line(line, take);
    bytes.remove_prefix(newline + 1);
  }
}

void TextLines::finish(const Take& take) {
  end_line({}, take);
}

}  // namespace memduel
