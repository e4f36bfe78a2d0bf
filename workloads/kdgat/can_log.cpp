#include "workloads/graphs/can_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "workloads/graphs/can_line.h"

namespace memduel {
namespace {

[[noreturn]] void refuse_length(std::uint8_t found, std::uint8_t expected) {
  throw BadCanLine{fmt::format("found {} bytes, expected {} from the length", found, expected)};
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
  if (line.word().empty()) throw BadCanLine{"found no bus, expected its name after the time"};
  frame.id = can_id(line.until('#'));
  std::string_view data = line.word();
  if (data.starts_with('#'))
    throw BadCanLine{"found a CAN FD frame (\"##\"), expected frames of at most 8 bytes"};
  if (!line.at_end() && line.rest() != "R" && line.rest() != "T") line.expect_end();
  if (data.starts_with('R')) {
    if (data.size() > 1) (void)can_length(data.substr(1));
    return frame;
  }
  if (data.size() > 2 * kMostCanBytes)
    throw BadCanLine{fmt::format("found {} data digits, expected at most 16", data.size())};
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
    throw BadCanLine{fmt::format("found \"{}\" after {} bytes, expected the flag R or T",
                                 flag.substr(0, 8), length)};
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
  throw BadCanLine{fmt::format("found \"{}\", expected a line of candump, HCRL's CSV or its text",
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
        throw BadCanLine{fmt::format("found time {}, expected {} of the frame before, or later",
                                     seconds_of(frame->time_us), seconds_of(last_us))};
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
