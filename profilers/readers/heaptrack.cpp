// Reads heaptrack's traces. HeaptrackLine is a letter, then hexadecimal numbers and texts.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include "address_space.h"
#include "exact_heap.h"
#include "formats.h"
#include "readers/plain_source.h"
#include "stack_builder.h"
#include "util/bytes.h"

namespace memduel {

/// What stands on a line behind its letter.
class HeaptrackLine {
 public:
  HeaptrackLine(const PlainSource& source, std::string_view line)
      : source_(source), line_(line), at_(std::min<std::size_t>(line.size(), 2)) {}

  [[nodiscard]] bool at_end() const { return at_ >= line_.size(); }
  [[nodiscard]] std::string_view rest() const { return line_.substr(at_); }

  std::uint64_t hex() {
    std::uint64_t value = 0;
    const std::size_t begin = at_;
    for (; at_ < line_.size() && line_[at_] != ' '; ++at_) {
      const int digit = kDigits[static_cast<unsigned char>(line_[at_])];
      if (digit < 0) fail("expected a hexadecimal number");
      value = (value << 4) | static_cast<std::uint64_t>(digit);
    }
    if (at_ == begin) fail("a number is missing");
    if (at_ - begin > 16) fail(kTooLongNumber);
    if (at_ < line_.size()) ++at_;
    return value;
  }

  /// Since version 3 with its size before it; before, up to the next space or the end of the line.
  std::string_view text(bool sized, bool to_end) {
    const std::uint64_t size = sized    ? hex()
                               : to_end ? line_.size() - at_
                                        : std::min(line_.find(' ', at_), line_.size()) - at_;
    if (size > line_.size() - at_) fail("a text is longer than its line");
    const std::string_view found = line_.substr(at_, size);
    at_ = std::min(at_ + size + 1, line_.size());
    return found;
  }

  [[noreturn]] void fail(const char* problem) const {
    source_.fail(fmt::format("line {}: {}", source_.line_number(), problem), at_);
  }

 private:
  static constexpr std::array<short, 256> kDigits = [] {
    std::array<short, 256> digits{};
    digits.fill(-1);
    for (int i = 0; i < 10; ++i) digits['0' + i] = static_cast<short>(i);
    for (int i = 0; i < 6; ++i) digits['a' + i] = static_cast<short>(10 + i);
    return digits;
  }();

  const PlainSource& source_;
  std::string_view line_;
  std::size_t at_;
};

namespace {

constexpr const char* kNeverGiven = "a free of an allocation that is not in the file";

constexpr std::uint64_t kNewestVersion = 3;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 48;

/// Blocks of one size and stack.
struct Blocks {
  std::uint64_t size = 0;
  std::uint32_t site = 0;
};

/// What is allocated and freed. The interpreted trace numbers its blocks, the raw one names
/// addresses.
class HeaptrackBlocks {
 public:
  void number(const Blocks& blocks) { numbered_.push_back(blocks); }

  void allocate(HeaptrackLine& line) {
    last_ = line.hex();
    if (*last_ >= numbered_.size()) line.fail(kNeverGiven);
    add(numbered_[*last_]);
  }

  void free(HeaptrackLine& line) {
    const std::uint64_t number = line.hex();
    if (number >= numbered_.size()) line.fail(kNeverGiven);
    const Blocks& blocks = numbered_[number];
    if (!heap_.remove(blocks.site, blocks.size, last_ == number)) {
      line.fail("more blocks of a stack were freed than allocated");
    }
    last_.reset();
  }

  void allocate_at(HeaptrackLine& line, const Blocks& blocks) {
    last_ = line.hex();
    if (*last_ == NumberMap<Blocks>::kNoKey) line.fail("an impossible address");
    // A second block at an address that never was freed: its free went past heaptrack, which counts
    // the first as live to the end.
    const auto [block, made] = live_.emplace(*last_, blocks);
    if (!made) *block = blocks;
    add(blocks);
  }

  void free_at(HeaptrackLine& line) {
    const std::uint64_t address = line.hex();
    const bool temporary = last_ == address;
    last_.reset();
    if (address == NumberMap<Blocks>::kNoKey) line.fail("an impossible address");
    if (const auto block = live_.take(address)) {
      heap_.remove(block->site, block->size, temporary);
    }
  }

  [[nodiscard]] auto live_bytes() const { return heap_.live_bytes(); }

  void finish(Profile& profile) {
    heap_.finish(profile);
    for (std::size_t bin = 0; bin < sizes_.size(); ++bin) {
      if (sizes_[bin].count == 0) continue;
      profile.sizes.push_back(
          {std::int64_t{1} << bin, exact_amount(sizes_[bin].bytes, sizes_[bin].count)});
    }
  }

 private:
  struct Size {
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
  };

  void add(const Blocks& blocks) {
    heap_.add(blocks.site, blocks.size);
    Size& size =
        sizes_[static_cast<std::size_t>(blocks.size < 2 ? 0 : std::bit_width(blocks.size) - 1)];
    ++size.count;
    size.bytes += blocks.size;
  }

  ExactHeap heap_;
  std::vector<Blocks> numbered_;
  NumberMap<Blocks> live_;             ///< by address
  std::optional<std::uint64_t> last_;  ///< number or address of the block of the event before
  std::array<Size, 64> sizes_{};
};

class HeaptrackReader {
 public:
  HeaptrackReader(PlainSource& source, const SymbolOptions& symbols)
      : source_(source), space_(profile_, stacks_, symbols) {}

  Profile read() {
    while (const auto line = source_.line()) {
      if (!source_.line_ended()) source_.fail(kEndsInALine);
      if (!line->empty()) read_line(*line);
    }
    if (profile_.stacks.size() == 1) source_.fail("the file ends before its first allocation");
    return finish();
  }

 private:
  void read_line(std::string_view text) {
    HeaptrackLine line(source_, text);
    note_order(text);
    switch (text[0]) {
      case '+':
        return raw_ ? blocks_.allocate_at(line, blocks_of(line)) : blocks_.allocate(line);
      case '-':
        return raw_ ? blocks_.free_at(line) : blocks_.free(line);
      case 't':
        return read_stack(line);
      case 'a':
        return blocks_.number(blocks_of(line));
      case 'i':
        return read_instruction(line);
      case 's':
        strings_.emplace_back(line.text(version_ >= 3, true));
        return;
      case 'm':
        raw_ = true;
        return read_module(line);
      case 'x':
        raw_ = true;
        program_ = line.text(version_ >= 3, true);
        profile_.info["program"] = program_;
        return;
      case 'c':
        moment_.at = static_cast<double>(line.hex());
        moment_.bytes = static_cast<double>(blocks_.live_bytes());
        timeline_.add(moment_);
        return;
      case 'v':
        return read_version(line);
      case 'X':
        profile_.info["command"] = line.rest();
        return;
      case 'A':
        profile_.info["attached"] = "to a running program";
        profile_.notes.emplace_back(
            "heaptrack was attached to a running program: what was allocated before is not here");
        return;
      case 'R':
        moment_.rss_bytes = static_cast<double>(line.hex()) * page_bytes_;
        return;
      case 'I':
        page_bytes_ = static_cast<double>(line.hex());
        return;
      case 'S':
      case '#':
        return;
      default:
        source_.fail(fmt::format("line {}: no line of a heaptrack trace begins like that",
                                 source_.line_number()));
    }
  }

  // When the program exits, heaptrack writes the time ('c') and, where it can tell, the resident
  // memory ('R'), and closes the trace. heaptrack_interpret ends its own with two comments.
  void note_order(std::string_view text) {
    counted_ = text.starts_with("# ips:");
    if (text[0] == '#') return;
    closed_ = text[0] == 'R' || (text[0] == 'c' && !moment_.rss_bytes);
  }

  void note_end() {
    if (!raw_ && !counted_) {
      profile_.notes.emplace_back(
          "the trace ends without the counts that heaptrack_interpret writes last: it may be cut "
          "off; what came after is missing");
    } else if (!closed_) {
      profile_.notes.emplace_back(
          "the trace ends without the time and memory that heaptrack writes when the program "
          "exits: the program was killed or left by _exit, or the trace may be cut off; what came "
          "after is missing");
    }
  }

  void read_version(HeaptrackLine& line) {
    const std::uint64_t tool = line.hex();
    // Before its release, 1.2 wrote its own version where that of the file stands today.
    version_ = line.at_end() ? 1 : line.hex();
    if (version_ > kNewestVersion)
      line.fail("written by a newer heaptrack than this reader supports");
    if (version_ < 1) line.fail("written by a heaptrack before 1.0");
    profile_.info["profiler"] =
        fmt::format("heaptrack {}.{}.{}", tool >> 16, (tool >> 8) & 0xff, tool & 0xff);
  }

  // Modules that are loaded from now on; "-" begins their list anew.
  void read_module(HeaptrackLine& line) {
    const std::string_view name = line.text(version_ >= 3, false);
    if (name == "-") {
      space_.clear();
      return;
    }
    const std::string path(name == "x" ? std::string_view(program_) : name);
    const std::uint64_t bias = line.hex();
    std::vector<ElfSegment> segments;
    while (!line.at_end()) {
      const std::uint64_t address = line.hex();
      segments.push_back({0, address, line.hex()});
    }
    space_.add_loaded(path, bias, segments);
  }

  void read_instruction(HeaptrackLine& line) {
    line.hex();  // its address, which without a list of modules says nothing
    const std::uint64_t module = line.hex();
    if (line.at_end()) {
      locations_.push_back(stacks_.unnamed_in(string(module, line)));
      return;
    }
    ProfileLocation location;
    while (!line.at_end()) {
      FrameName name;
      name.function = string(line.hex(), line);
      if (!line.at_end()) {
        name.file = string(line.hex(), line);
        name.line = static_cast<int>(std::min<std::uint64_t>(line.hex(), 0x7fffffff));
      }
      location.names.push_back(std::move(name));
    }
    // A file without a function: nothing but the unwinder's guess.
    if (location.names[0].function.empty()) {
      locations_.push_back(stacks_.unnamed_in(string(module, line)));
      return;
    }
    locations_.push_back(stacks_.add_location(std::move(location)));
  }

  const std::string& string(std::uint64_t number, const HeaptrackLine& line) const {
    static const std::string none;
    if (number == 0) return none;
    if (number > strings_.size()) line.fail("a text that was never given");
    return strings_[number - 1];
  }

  void read_stack(HeaptrackLine& line) {
    const std::uint64_t place = line.hex();
    const std::uint64_t parent = line.hex();
    if (parent >= nodes_.size()) line.fail("a stack under one that was never given");
    std::uint32_t location = 0;
    if (raw_) {
      location = space_.location_at(place);
    } else if (place == 0) {
      location = stacks_.unnamed_in({});
    } else if (place <= locations_.size()) {
      location = locations_[place - 1];
    } else {
      line.fail("an instruction that was never given");
    }
    nodes_.push_back(stacks_.stack(nodes_[parent], location));
  }

  Blocks blocks_of(HeaptrackLine& line) {
    const std::uint64_t size = line.hex();
    const std::uint64_t node = line.hex();
    if (size > kMostBytes) line.fail("an impossible size");
    if (node >= nodes_.size()) line.fail("a stack that was never given");
    const std::uint32_t site = stacks_.site_number(nodes_[node]);
    return {size, site};
  }

  Profile finish() {
    note_end();
    space_.finish();
    blocks_.finish(profile_);
    profile_.moments = timeline_.moments();
    profile_.info["mode"] = "exact";
    profile_.info["amounts"] = "requested bytes";
    profile_.facts = ToolFacts{"heaptrack", CountedSize::requested, true, true, true};
    profile_.info["temporary"] = "freed by the very next event";
    return std::move(profile_);
  }

  PlainSource& source_;
  Profile profile_;
  StackBuilder stacks_{profile_};
  AddressSpace space_;
  HeaptrackBlocks blocks_;
  Timeline timeline_;
  ProfileMoment moment_;
  std::string program_;
  std::uint64_t version_ = 1;
  bool raw_ = false;
  bool closed_ = false;   ///< the last line is one with which heaptrack ends
  bool counted_ = false;  ///< likewise heaptrack_interpret
  double page_bytes_ = 4096;
  std::vector<std::string> strings_;
  std::vector<std::uint32_t> locations_;  ///< of instructions, from number 1
  std::vector<std::uint32_t> nodes_{0};   ///< of the profile, by heaptrack's number
};

}  // namespace

bool is_heaptrack(std::string_view head) {
  // "v 10400 3", then a line with a letter of its own.
  if (!head.starts_with("v ")) return false;
  const std::size_t end = head.find('\n');
  if (end == std::string_view::npos || end > 40) return false;
  return head.substr(2, end - 2).find_first_not_of("0123456789abcdef ") == std::string_view::npos;
}

Profile read_heaptrack(PlainSource& source, const SymbolOptions& symbols) {
  return HeaptrackReader(source, symbols).read();
}

}  // namespace memduel
