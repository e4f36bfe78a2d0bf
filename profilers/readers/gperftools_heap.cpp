#include <fmt/format.h>

#include "dumped_stacks.h"
#include "formats.h"
#include "memory/text_cursor.h"
#include "profile/difference.h"
#include "readers/plain_source.h"
#include "util/text.h"

namespace memduel {

namespace {

constexpr std::string_view kGperftoolsStart = "heap profile:";
constexpr std::string_view kGperftoolsMaps = "MAPPED_LIBRARIES:";

/// "live blocks: live bytes [blocks: bytes] @", which begins the first line and every stack.
struct GperftoolsCounts {
  std::uint64_t live_blocks = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;

  GperftoolsCounts& operator+=(const GperftoolsCounts& other) {
    live_blocks += other.live_blocks;
    live_bytes += other.live_bytes;
    blocks += other.blocks;
    bytes += other.bytes;
    return *this;
  }
};

class GperftoolsHeapReader {
 public:
  GperftoolsHeapReader(PlainSource& source, const SymbolOptions& symbols)
      : source_(source), space_(profile_, builder_, symbols) {}

  Profile read() {
    read_totals();
    bool mapped = false;
    while (const auto line = source_.line()) {
      if (!source_.line_ended()) source_.fail("the file ends inside a stack");
      mapped = *line == kGperftoolsMaps;
      if (mapped) break;
      if (!line->empty()) read_stack(*line);
    }
    if (!mapped) source_.fail(kEndsBeforeMaps);
    read_maps(source_, space_);
    add_heap_stacks(profile_, builder_, space_, stacks_);
    note_loss();
    profile_.info["amounts"] = "requested bytes";
    // GetHeapSample knows what is live and says it a second time as allocated.
    profile_.facts =
        ToolFacts{"gperftools", CountedSize::requested, false, !profile_.sampled(), true};
    return std::move(profile_);
  }

 private:
  GperftoolsCounts counts(TextCursor& cursor) const {
    GperftoolsCounts found;
    found.live_blocks = number_at(source_, cursor);
    expect_at(source_, cursor, ":");
    found.live_bytes = number_at(source_, cursor);
    expect_at(source_, cursor, "[");
    found.blocks = number_at(source_, cursor);
    expect_at(source_, cursor, ":");
    found.bytes = number_at(source_, cursor);
    expect_at(source_, cursor, "]");
    expect_at(source_, cursor, "@");
    return found;
  }

  void read_totals() {
    const auto line = source_.line();
    TextCursor cursor(line.value_or(""));
    if (!source_.line_ended()) source_.fail(kEndsInFirstLine);
    expect_at(source_, cursor, kGperftoolsStart);
    totals_ = counts(cursor);
    cursor.skip_spaces();
    const bool exact = cursor.rest() == "heapprofile";
    profile_.info["mode"] = exact ? "exact" : "sampled";
    if (exact) return;
    if (!cursor.skip("heap_v2/") && !cursor.skip("heapz_v2/")) {
      fail_at(source_, cursor, "expected heapprofile or heap_v2/INTERVAL");
    }
    const std::uint64_t interval = number_at(source_, cursor);
    interval_ = static_cast<double>(interval);
    profile_.info["interval_bytes"] = fmt::format("{}", interval);
  }

  void read_stack(std::string_view line) {
    TextCursor cursor(line);
    const GperftoolsCounts found = counts(cursor);
    listed_ += found;
    DumpedStack stack{{},
                      unbiased(found.live_blocks, found.live_bytes, interval_),
                      unbiased(found.blocks, found.bytes, interval_)};
    stack.calls = calls_at(source_, cursor);
    stacks_.push_back(std::move(stack));
  }

  // A sample's first line counts what it sampled, a dump's all that there was.
  void note_loss() {
    const auto missing = [](std::uint64_t all, std::uint64_t listed) {
      return all > listed ? all - listed : 0;
    };
    const std::uint64_t live = missing(totals_.live_bytes, listed_.live_bytes);
    const std::uint64_t allocated = missing(totals_.bytes, listed_.bytes);
    if (live == 0 && allocated == 0) return;
    AllocationSite& lost = builder_.site(builder_.stack(0, builder_.named({kCutOffFrame, {}, 0})));
    lost.live = unbiased(missing(totals_.live_blocks, listed_.live_blocks), live, interval_);
    lost.allocated = unbiased(missing(totals_.blocks, listed_.blocks), allocated, interval_);
    const auto share = [](std::uint64_t part, std::uint64_t all) {
      return all == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(all);
    };
    profile_.notes.push_back(fmt::format(
        "truncated by gperftools, whose limit is 1 MiB: {} live ({:.1f}%) and {} allocated "
        "({:.1f}%) are of omitted stacks, shown as [cut off]",
        format_bytes(lost.live.bytes), share(live, totals_.live_bytes),
        format_bytes(lost.allocated.bytes), share(allocated, totals_.bytes)));
  }

  PlainSource& source_;
  Profile profile_;
  StackBuilder builder_{profile_};
  AddressSpace space_;
  double interval_ = 0;  ///< 0: every block was counted
  GperftoolsCounts totals_;
  GperftoolsCounts listed_;
  std::vector<DumpedStack> stacks_;
};

}  // namespace

bool is_gperftools_heap(std::string_view head) {
  return head.starts_with(kGperftoolsStart);
}

Profile read_gperftools_heap(PlainSource& source, const SymbolOptions& symbols) {
  return GperftoolsHeapReader(source, symbols).read();
}

}  // namespace memduel
