#include <fmt/format.h>

#include "dumped_stacks.h"
#include "formats.h"
#include "memory/text_cursor.h"
#include "readers/plain_source.h"
#include "stack_builder.h"

namespace memduel {

namespace {

struct FoldedLine {
  std::string_view frames;
  std::uint64_t amount = 0;
};

std::optional<FoldedLine> folded_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t space = line.rfind(' ');
  if (space == std::string_view::npos || space == 0) return std::nullopt;
  TextCursor cursor(line.substr(space + 1));
  const auto amount = cursor.number();
  if (!amount || !cursor.at_end() || *amount > kMostCounted) return std::nullopt;
  return FoldedLine{line.substr(0, space), *amount};
}

}  // namespace

bool is_folded(std::string_view head) {
  return folded_line(head.substr(0, head.find('\n'))).has_value();
}

Profile read_folded(PlainSource& source, const SymbolOptions& /*symbols*/) {
  Profile profile;
  StackBuilder builder(profile);
  while (const auto line = source.line()) {
    if (line->empty()) continue;
    const auto folded = folded_line(*line);
    if (!folded) {
      source.fail(fmt::format("line {}: expected FRAME;FRAME… NUMBER", source.line_number()));
    }
    std::uint32_t node = 0;
    std::string_view rest = folded->frames;
    for (;;) {
      const std::size_t end = rest.find(';');
      const std::string_view frame = rest.substr(0, end);
      if (!frame.empty()) {
        node = builder.stack(node, builder.named({std::string(frame), {}, 0}));
      }
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
    builder.site(node).allocated += {static_cast<double>(folded->amount), 0, 0, 1};
  }
  profile.counted = false;
  profile.info["mode"] = "exact";
  profile.notes.emplace_back("folded stacks have no unit; they are shown as allocated bytes");
  return profile;
}

}  // namespace memduel
