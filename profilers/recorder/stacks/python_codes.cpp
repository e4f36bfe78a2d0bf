// Code objects: their names, their lines, and the numbers under which the trace knows them.
#include <cstring>

#include "python.h"
#include "system.h"
#include "trace_writer.h"

namespace memduel::recorder {

namespace {

// The same in CPython 3.10 to 3.14.
constexpr std::size_t kSize = 16;       // of a bytes or str object
constexpr std::size_t kTextState = 32;  // of a str object
constexpr std::size_t kBytes = 32;      // where a bytes object's content begins
constexpr std::size_t kMostTableBytes = 64 * 1024;
constexpr std::size_t kMostNameBytes = 1024;

/// The characters of a str object as they lie there: 1, 2 or 4 bytes each.
struct Text {
  const char* bytes = nullptr;
  std::size_t count = 0;
  std::size_t width = 1;
  bool ascii = true;
};

Text text_at(const char* code, std::size_t offset) {
  const char* object = load<const char*>(code, offset);
  if (object == nullptr) return {};
  const auto state = load<std::uint32_t>(object, kTextState);
  const std::uint32_t width = (state >> 2) & 7;
  const bool compact = (state & 0x20) != 0;
  if (!compact || (width != 1 && width != 2 && width != 4)) return {};
  const bool ascii = (state & 0x40) != 0;
  const auto count = load<std::int64_t>(object, kSize);
  if (count < 0) return {};
  return {object + (ascii ? python_layout->text_ascii : python_layout->text_compact),
          static_cast<std::size_t>(count), width, ascii};
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 32);
}

std::uint64_t hash_of(const Text& text, std::uint64_t hash) {
  std::size_t left = text.count < kMostNameBytes ? text.count : kMostNameBytes;
  left *= text.width;
  hash = mix(hash, left);
  const char* at = text.bytes;
  for (; left >= 8; left -= 8, at += 8) hash = mix(hash, load<std::uint64_t>(at, 0));
  std::uint64_t rest = 0;
  if (left > 0) memcpy(&rest, at, left);
  return mix(hash, rest);
}

std::uint32_t character(const Text& text, std::size_t index) {
  const char* at = text.bytes + index * text.width;
  if (text.width == 1) return static_cast<unsigned char>(*at);
  if (text.width == 2) return load<std::uint16_t>(at, 0);
  return load<std::uint32_t>(at, 0);
}

std::size_t put_utf8(char* out, std::uint32_t c) {
  const auto tail = [c](unsigned shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) {
    out[0] = static_cast<char>(c);
    return 1;
  }
  if (c < 0x800) {
    out[0] = static_cast<char>(0xc0 | (c >> 6));
    out[1] = tail(0);
    return 2;
  }
  if (c < 0x10000) {
    out[0] = static_cast<char>(0xe0 | (c >> 12));
    out[1] = tail(6);
    out[2] = tail(0);
    return 3;
  }
  out[0] = static_cast<char>(0xf0 | ((c >> 18) & 7));
  out[1] = tail(12);
  out[2] = tail(6);
  out[3] = tail(0);
  return 4;
}

void put(EventWriter& writer, const Text& text) {
  char utf8[kMostNameBytes + 4];
  std::size_t used = 0;
  for (std::size_t i = 0; i < text.count && used < kMostNameBytes; ++i) {
    used += put_utf8(utf8 + used, character(text, i));
  }
  writer.text({utf8, used});
}

// ---- the location table, from 3.11 on: CPython's Objects/locations.md -------------------------

class LineTable {
 public:
  LineTable(const char* at, const char* end) : at_(at), end_(end) {}

  /// False at the end. Afterwards `units` code units more are behind, on `line`.
  bool next(std::uint32_t& units, std::int64_t& line_change, bool& has_line) {
    if (at_ >= end_) return false;
    const unsigned head = byte();
    const unsigned kind = (head >> 3) & 15;
    units = (head & 7) + 1;
    line_change = 0;
    has_line = kind != 15;
    if (kind <= 9) {
      byte();
    } else if (kind <= 12) {
      line_change = static_cast<std::int64_t>(kind) - 10;
      byte();
      byte();
    } else if (kind == 13) {
      line_change = signed_number();
    } else if (kind == 14) {
      line_change = signed_number();
      for (int i = 0; i < 3; ++i) number();
    }
    return true;
  }

 private:
  unsigned byte() { return at_ < end_ ? static_cast<unsigned char>(*at_++) : 0; }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 36; shift += 6) {
      const unsigned next = byte();
      value |= std::uint64_t{next & 63} << shift;
      if ((next & 64) == 0) break;
    }
    return value;
  }
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    const auto half = static_cast<std::int64_t>(value >> 1);
    return (value & 1) != 0 ? -half : half;
  }

  const char* at_;
  const char* end_;
};

/// 3.10's, of PEP 626: pairs of the bytes of code and the change of line before them.
std::uint32_t line_of_pairs(std::int64_t line, const char* at, const char* end,
                            std::ptrdiff_t offset) {
  constexpr int kNoLine = -128;
  if (offset < 0) return line > 0 ? static_cast<std::uint32_t>(line) : 0;  // before its beginning
  std::int64_t left = offset;
  for (; at + 1 < end; at += 2) {
    const int byte = static_cast<unsigned char>(at[1]);
    const int change = byte < 128 ? byte : byte - 256;
    if (change != kNoLine) line += change;
    left -= static_cast<unsigned char>(at[0]);
    if (left < 0) return change != kNoLine && line > 0 ? static_cast<std::uint32_t>(line) : 0;
  }
  return 0;
}

// ---- numbers --------------------------------------------------------------------------------

struct Entry {
  std::uint64_t content;  ///< 0: empty
  std::uint32_t number;
};
Entry* entries = nullptr;
std::size_t capacity = 0;  // a power of two
std::uint32_t known = 0;

Entry* find_entry(std::uint64_t content) {
  std::size_t slot = content & (capacity - 1);
  while (entries[slot].content != 0 && entries[slot].content != content) {
    slot = (slot + 1) & (capacity - 1);
  }
  return &entries[slot];
}

bool grow() {
  const std::size_t old_capacity = capacity;
  Entry* old = entries;
  const std::size_t larger = capacity == 0 ? 1024 : capacity * 2;
  auto* made = static_cast<Entry*>(own_memory(larger * sizeof(Entry)));
  if (made == nullptr) return false;
  entries = made;
  capacity = larger;
  for (std::size_t i = 0; i < old_capacity; ++i) {
    if (old[i].content != 0) *find_entry(old[i].content) = old[i];
  }
  if (old != nullptr) release_memory(old, old_capacity * sizeof(Entry));
  return true;
}

}  // namespace

std::uint64_t python_content(const char* code) {
  const auto line = load<std::int32_t>(code, python_layout->code_first_line);
  std::uint64_t hash = mix(1, static_cast<std::uint64_t>(line));
  hash = hash_of(text_at(code, python_layout->code_name), hash);
  hash = hash_of(text_at(code, python_layout->code_file), hash);
  return hash == 0 ? 1 : hash;
}

namespace {

// Lines that were found, each a word of the upper bits of its place's hash and the line, so that
// threads may read and write it without a lock. A table is read from its begin to the place.
constexpr std::size_t kCachedLines = 8192;
constexpr std::uint64_t kLineBits = 24;
std::uint64_t cached_lines[kCachedLines];

std::uint32_t line_in_table(const char* code, std::ptrdiff_t offset) {
  std::int64_t line = load<std::int32_t>(code, python_layout->code_first_line);
  const char* table = load<const char*>(code, python_layout->code_lines);
  const auto size = load<std::uint64_t>(table, kSize);
  if (size > kMostTableBytes) return 0;
  const bool in_pairs = python_layout->code_bytes == 0;
  if (in_pairs) return line_of_pairs(line, table + kBytes, table + kBytes + size, offset);
  LineTable entries_of_table(table + kBytes, table + kBytes + size);
  std::int64_t left = offset < 0 ? 0 : offset / 2;
  std::uint32_t units = 0;
  std::int64_t change = 0;
  bool has_line = false;
  while (entries_of_table.next(units, change, has_line)) {
    line += change;
    left -= units;
    if (left < 0) return has_line && line > 0 ? static_cast<std::uint32_t>(line) : 0;
  }
  return 0;
}

}  // namespace

std::uint32_t python_line(const char* code, std::uint64_t content, std::ptrdiff_t offset) {
  constexpr std::uint64_t kLineMask = (std::uint64_t{1} << kLineBits) - 1;
  // Two functions of a name on one line have tables of their own.
  const auto table = load<std::uint64_t>(code, python_layout->code_lines);
  const std::uint64_t hash = mix(mix(content, table), static_cast<std::uint64_t>(offset));
  std::uint64_t& cached = cached_lines[hash % kCachedLines];
  const std::uint64_t found = __atomic_load_n(&cached, __ATOMIC_RELAXED);
  if (found != 0 && (found & ~kLineMask) == (hash & ~kLineMask))
    return static_cast<std::uint32_t>(found & kLineMask);
  const std::uint32_t line = line_in_table(code, offset);
  if (line <= kLineMask) __atomic_store_n(&cached, (hash & ~kLineMask) | line, __ATOMIC_RELAXED);
  return line;
}

FrameWord python_word(const PythonFrame& frame) {
  if (2 * (std::size_t{known} + 1) > capacity && !grow()) return 0;
  Entry* entry = find_entry(frame.content);
  if (entry->content == 0) {
    *entry = {frame.content, known++};
    write_record(events::Code<Text>{text_at(frame.code, python_layout->code_name),
                                    text_at(frame.code, python_layout->code_file)});
  }
  return python_frame(entry->number, frame.line);
}

void restart_python_codes() {
  if (entries != nullptr) memset(entries, 0, capacity * sizeof(Entry));
  known = 0;
}

}  // namespace memduel::recorder
