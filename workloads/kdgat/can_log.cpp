// Recorded bus traffic: a line taken apart from its front, and the three layouts of lines.

#include "can_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "can_frame.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel {

/// What a line should have had; the caller knows its file and number.
struct BadCanLine {
  std::string what;
};

/// Every function takes what it names from the front, or throws BadCanLine.
class CanLine {
 public:
  explicit CanLine(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }

  void skip_blanks();
  void expect(std::string_view text);
  /// What comes before `end`, which is taken too; all that is left where `end` does not come.
  std::string_view until(char end);
  /// Up to the next blank; blanks around it are taken too.
  std::string_view word();
  void expect_end() const;

 private:
  std::string_view rest_;
};

/// Seconds with at most six decimals, in microseconds.
std::int64_t can_time_us(std::string_view text);
/// Hexadecimal digits, at most kMostCanId.
std::uint32_t can_id(std::string_view text);
/// A frame's length, 0 to 8.
std::uint8_t can_length(std::string_view text);
/// Two hexadecimal digits.
std::uint8_t can_byte(std::string_view text);

namespace {

constexpr std::size_t kMostShown = 40;

[[noreturn]] void refuse_found(std::string_view found, std::string_view expected) {
  const std::string shown(found.substr(0, kMostShown));
  throw BadCanLine{fmt::format("expected {}, found \"{}{}\"", expected, shown,
                               found.size() > kMostShown ? "..." : "")};
}

/// The whole of `text` as a number; no sign.
template <class Number>
std::optional<Number> whole_number(std::string_view text, int base) {
  Number number{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (failed != std::errc() || end != text.data() + text.size() || text.starts_with('-'))
    return std::nullopt;
  return number;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

}  // namespace

void CanLine::skip_blanks() {
  while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
}

void CanLine::expect(std::string_view text) {
  if (!rest_.starts_with(text)) refuse_found(rest_, fmt::format("\"{}\"", text));
  rest_.remove_prefix(text.size());
}

std::string_view CanLine::until(char end) {
  const std::size_t at = std::min(rest_.find(end), rest_.size());
  const std::string_view taken = rest_.substr(0, at);
  rest_.remove_prefix(std::min(at + 1, rest_.size()));
  return taken;
}

std::string_view CanLine::word() {
  skip_blanks();
  const auto* const end = std::ranges::find_if(rest_, is_blank);
  const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
  rest_.remove_prefix(taken.size());
  skip_blanks();
  return taken;
}

void CanLine::expect_end() const {
  if (!rest_.empty()) refuse_found(rest_, "the end of the line");
}

std::int64_t can_time_us(std::string_view text) {
  constexpr std::size_t kDecimals = 6;
  constexpr std::int64_t kMostSeconds = 99'999'999'999;  // the year 5138
  CanLine parts(text);
  const auto seconds = whole_number<std::int64_t>(parts.until('.'), 10);
  std::string decimals(parts.rest());
  const bool fits = decimals.size() <= kDecimals;
  decimals.resize(kDecimals, '0');
  const auto microseconds = whole_number<std::int64_t>(decimals, 10);
  if (!seconds || *seconds > kMostSeconds || !fits || !microseconds)
    refuse_found(text, "seconds with at most six decimals");
  return *seconds * 1'000'000 + *microseconds;
}

std::uint32_t can_id(std::string_view text) {
  const auto id = whole_number<std::uint32_t>(text, 16);
  if (!id || *id > kMostCanId)
    refuse_found(text, fmt::format("a hexadecimal identifier up to {:x}", kMostCanId));
  return *id;
}

std::uint8_t can_length(std::string_view text) {
  const auto length = whole_number<std::uint8_t>(text, 10);
  if (!length || *length > kMostCanBytes) refuse_found(text, "a length from 0 to 8");
  return *length;
}

std::uint8_t can_byte(std::string_view text) {
  const auto byte = whole_number<std::uint8_t>(text, 16);
  if (!byte || text.size() != 2) refuse_found(text, "two hexadecimal digits");
  return *byte;
}

namespace {

[[noreturn]] void refuse_length(std::uint8_t found, std::uint8_t expected) {
  throw BadCanLine{
      fmt::format("expected {} bytes according to the length, found {}", expected, found)};
}

using ParseLine = CanFrame (*)(CanLine line);

void add_byte(CanFrame& frame, std::string_view digits) {
  frame.bytes[frame.length] = can_byte(digits);
  ++frame.length;
}

/// "(1701998281.317190) can0 200#0003C000", "… 200#R" or "… 200#R8" for a frame that asks for data,
/// and at the end of the line candump's direction, R or T, where it was asked for.
CanFrame parse_candump(CanLine line) {
  CanFrame frame;
  line.expect("(");
  frame.time_us = can_time_us(line.until(')'));
  line.skip_blanks();
  if (line.word().empty())
    throw BadCanLine{"expected the name of the bus after the time, found none"};
  frame.id = can_id(line.until('#'));
  std::string_view data = line.word();
  if (data.starts_with('#'))
    throw BadCanLine{"expected frames of at most 8 bytes, found a CAN FD frame (\"##\")"};
  if (!line.at_end() && line.rest() != "R" && line.rest() != "T") line.expect_end();
  if (data.starts_with('R')) {
    if (data.size() > 1) (void)can_length(data.substr(1));
    return frame;
  }
  if (data.size() > 2 * kMostCanBytes)
    throw BadCanLine{fmt::format("expected at most 16 data digits, found {}", data.size())};
  for (; !data.empty(); data.remove_prefix(std::min<std::size_t>(2, data.size())))
    add_byte(frame, data.substr(0, 2));
  return frame;
}

/// "1478198376.389427,0316,8,05,21,68,09,21,21,00,6f,R"
CanFrame parse_hcrl_csv(CanLine line) {
  CanFrame frame;
  frame.time_us = can_time_us(line.until(','));
  frame.id = can_id(line.until(','));
  const std::uint8_t length = can_length(line.until(','));
  while (frame.length < length) {
    if (line.at_end() || line.rest() == "R" || line.rest() == "T")
      refuse_length(frame.length, length);
    add_byte(frame, line.until(','));
  }
  const std::string_view flag = line.until(',');
  if (flag != "R" && flag != "T")
    throw BadCanLine{fmt::format("expected the flag R or T after {} bytes, found \"{}\"", length,
                                 flag.substr(0, 8))};
  line.expect_end();
  frame.attack = flag == "T";
  return frame;
}

/// "Timestamp: 1479121434.850202        ID: 0350    000    DLC: 8    05 28 84 66 6d 00 00 a2"
CanFrame parse_hcrl_text(CanLine line) {
  CanFrame frame;
  line.expect("Timestamp:");
  frame.time_us = can_time_us(line.word());
  line.expect("ID:");
  frame.id = can_id(line.word());
  line.word();  // the bits that mark a frame that asks for data, 000 or 100
  line.expect("DLC:");
  const std::uint8_t length = can_length(line.word());
  while (frame.length < length) {
    if (line.at_end()) refuse_length(frame.length, length);
    add_byte(frame, line.word());
  }
  line.expect_end();
  return frame;
}

std::string seconds_of(std::int64_t time_us) {
  return fmt::format("{}.{:06}", time_us / 1'000'000, time_us % 1'000'000);
}

ParseLine layout_of(std::string_view line) {
  if (line.starts_with('(')) return parse_candump;
  if (line.starts_with("Timestamp:")) return parse_hcrl_text;
  if (line.front() >= '0' && line.front() <= '9') return parse_hcrl_csv;
  throw BadCanLine{fmt::format("expected a line of candump, HCRL's CSV or its text, found \"{}\"",
                               line.substr(0, 40))};
}

std::string_view without_end(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
    line.remove_suffix(1);
  return line;
}

}  // namespace

void parse_can_log(std::string_view text, const std::string& name,
                   const std::function<void(const CanFrame&)>& use) {
  ParseLine parse = nullptr;
  CanLine lines(text);
  std::int64_t last_us = 0;
  for (std::size_t number = 1; !lines.at_end(); ++number) {
    const std::string_view line = without_end(lines.until('\n'));
    if (line.empty()) continue;
    std::optional<CanFrame> frame;
    try {
      if (parse == nullptr) parse = layout_of(line);
      frame = parse(CanLine(line));
      if (frame->time_us < last_us)
        throw BadCanLine{
            fmt::format("expected a time of at least {}, that of the frame before, found {}",
                        seconds_of(last_us), seconds_of(frame->time_us))};
    } catch (const BadCanLine& bad) {
      throw Error(ExitCode::io, fmt::format("line {}: {}", number, valid_utf8(bad.what)), name);
    }
    last_us = frame->time_us;
    use(*frame);
  }
}

std::vector<CanFrame> read_can_log(const std::filesystem::path& path) {
  std::vector<CanFrame> frames;
  parse_can_log(read_file(path), path.string(),
                [&](const CanFrame& frame) { frames.push_back(frame); });
  return frames;
}

}  // namespace memduel
