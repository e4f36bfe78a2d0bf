#include <fmt/format.h>

#include "dumped_stacks.h"
#include "formats.h"
#include "memory/text_cursor.h"
#include "profile/difference.h"
#include "readers/plain_source.h"

namespace memduel {

namespace {

constexpr std::string_view kJemallocStart = "heap_v2/";
constexpr std::string_view kJemallocMaps = "MAPPED_LIBRARIES:";

class JemallocReader {
 public:
  JemallocReader(PlainSource& source, const SymbolOptions& symbols)
      : source_(source), space_(profile_, builder_, symbols) {}

  Profile read() {
    read_start();
    bool mapped = false;
    while (const auto line = source_.line()) {
      if (!source_.line_ended()) source_.fail(kEndsInALine);
      mapped = *line == kJemallocMaps;
      if (mapped) break;
      read_line(*line);
    }
    if (!mapped) source_.fail(kEndsBeforeMaps);
    read_maps(source_, space_);
    add_heap_stacks(profile_, builder_, space_, stacks_);
    profile_.info["mode"] = "sampled";
    profile_.info["amounts"] = kBytesOfClasses;
    // Size classes: jemalloc(3), "Implementation notes". Allocated bytes only with prof_accum.
    profile_.facts =
        ToolFacts{"jemalloc", CountedSize::size_classes, false, profile_.any_allocated(), true};
    return std::move(profile_);
  }

 private:
  void read_start() {
    const auto line = source_.line();
    TextCursor cursor(line.value_or(""));
    if (!source_.line_ended()) source_.fail(kEndsInFirstLine);
    expect_at(source_, cursor, kJemallocStart);
    const std::uint64_t interval = number_at(source_, cursor);
    interval_ = static_cast<double>(interval);
    profile_.info["interval_bytes"] = fmt::format("{}", interval);
  }

  // "@ 0x1 0x2" begins a stack; "t*: blocks: bytes [blocks: bytes]" has what all threads did there,
  // "t3:" what one did.
  void read_line(std::string_view line) {
    TextCursor cursor(line);
    cursor.skip_spaces();
    if (cursor.at_end()) return;
    if (cursor.skip("@")) {
      begin_stack(cursor);
    } else if (cursor.skip("t*:")) {
      if (stacks_.empty()) return;  // the whole program's, before the first stack
      read_counts(cursor, stacks_.back());
    } else if (!cursor.skip("t")) {
      fail_at(source_, cursor, "expected a stack or a thread");
    }
  }

  void begin_stack(TextCursor& cursor) { stacks_.push_back({calls_at(source_, cursor), {}, {}}); }

  void read_counts(TextCursor& cursor, DumpedStack& stack) {
    const std::uint64_t live_blocks = number_at(source_, cursor);
    expect_at(source_, cursor, ":");
    stack.live += unbiased(live_blocks, number_at(source_, cursor), interval_);
    expect_at(source_, cursor, "[");
    const std::uint64_t blocks = number_at(source_, cursor);
    expect_at(source_, cursor, ":");
    stack.allocated += unbiased(blocks, number_at(source_, cursor), interval_);
    expect_at(source_, cursor, "]");
  }

  PlainSource& source_;
  Profile profile_;
  StackBuilder builder_{profile_};
  AddressSpace space_;
  double interval_ = 0;
  std::vector<DumpedStack> stacks_;
};

}  // namespace

bool is_jemalloc_heap(std::string_view head) {
  return head.starts_with(kJemallocStart);
}

Profile read_jemalloc_heap(PlainSource& source, const SymbolOptions& symbols) {
  return JemallocReader(source, symbols).read();
}

}  // namespace memduel
