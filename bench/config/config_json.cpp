#include "config/config_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <stdexcept>

#include "util/error.h"
#include "util/json.h"

namespace memduel {
namespace {

struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
};

Position position_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto lines = std::ranges::count(before, '\n');
  const std::size_t last = before.rfind('\n');
  const std::size_t column =
      last == std::string_view::npos ? before.size() + 1 : before.size() - last;
  return {static_cast<std::size_t>(lines) + 1, column};
}

/// The bytes of a text, which say how many of them were read.
class CountedBytes {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountedBytes(const char* at, std::size_t* count, const char* begin)
      : at_(at), count_(count), begin_(begin) {}

  reference operator*() const { return *at_; }
  CountedBytes& operator++() {
    *count_ = static_cast<std::size_t>(++at_ - begin_);
    return *this;
  }
  bool operator==(const CountedBytes& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  std::size_t* count_;
  const char* begin_;
};

/// Where the values of a text begin, from the events of its parser.
class LineRecorder {
 public:
  using Event = nlohmann::json::parse_event_t;

  LineRecorder(std::string_view text, Places& places)
      : text_(text), places_(places), wanted_(text.find('\n') < text.size() - 1) {}

  /// @param byte how many were read. Throws Error(usage) for a key that its object has already.
  void take(Event event, const nlohmann::json& value, std::size_t byte) {
    if (event == Event::key) return take_key(value.get<std::string>(), byte);
    const bool ends = event == Event::object_end || event == Event::array_end;
    if (ends) open_.pop_back();
    if (event == Event::object_start || event == Event::array_start) {
      note_element(byte);
      open_.push_back({event == Event::array_start, 0, {}, {}});
      return;
    }
    if (event == Event::value) note_element(byte);
    if (!open_.empty()) ++open_.back().index;
  }

 private:
  struct Level {
    bool is_array;
    std::size_t index;  ///< of the next element
    std::string key;
    std::map<std::string, std::size_t> keys;  ///< where each was
  };

  void take_key(const std::string& key, std::size_t byte) {
    Level& object = open_.back();
    const auto [first, is_new] = object.keys.emplace(key, byte);
    if (!is_new)
      throw Error(
          ExitCode::usage,
          fmt::format("found \"{}\" twice, in lines {} and {}", key,
                      position_of(text_, first->second).line, position_of(text_, byte).line),
          places_.file(), "write it once");
    object.key = key;
    if (wanted_) places_.add_line(path(), line_of(byte));
  }

  /// A number is known to have ended when the byte behind it was read.
  void note_element(std::size_t byte) {
    if (wanted_ && !open_.empty() && open_.back().is_array)
      places_.add_line(path(), line_of(byte - 1));
  }

  [[nodiscard]] JsonPath path() const {
    JsonPath steps;
    for (const Level& level : open_)
      steps.push_back(level.is_array ? std::to_string(level.index) : level.key);
    return steps;
  }

  std::size_t line_of(std::size_t byte) {
    if (byte < counted_) return line_;
    line_ +=
        static_cast<std::size_t>(std::ranges::count(text_.substr(counted_, byte - counted_), '\n'));
    counted_ = byte;
    return line_;
  }

  std::string_view text_;
  Places& places_;
  bool wanted_;
  std::vector<Level> open_;
  std::size_t counted_ = 0;  ///< bytes
  std::size_t line_ = 1;
};

}  // namespace

ConfigTree parse_config_text(std::string_view text, const std::string& origin) {
  ConfigTree tree{nullptr, Places(origin)};
  std::size_t byte = 0;
  LineRecorder lines(text, tree.places);
  const auto look = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    refuse_deep_json(depth, event, value);
    lines.take(event, value, byte);
    return true;
  };
  if (const auto zero = text.find('\0'); zero != std::string_view::npos) {
    // The library takes it for the end of the text.
    const Position at = position_of(text, zero);
    throw Error(ExitCode::usage, "not valid JSON: found a byte of value 0",
                fmt::format("{}, line {}, column {}", origin, at.line, at.column),
                "encode the file in UTF-8");
  }
  try {
    tree.root = nlohmann::json::parse(CountedBytes{text.data(), &byte, text.data()},
                                      CountedBytes{text.data() + text.size(), &byte, text.data()},
                                      look, true, true);
    return tree;
  } catch (const std::length_error& error) {
    throw Error(ExitCode::usage, error.what(), origin);
  } catch (const nlohmann::json::parse_error& error) {
    const Position at = position_of(text, error.byte == 0 ? 0 : error.byte - 1);
    std::string what = error.what();
    if (const auto colon = what.find("syntax error"); colon != std::string::npos) {
      what = what.substr(colon);
    }
    throw Error(ExitCode::usage, "not valid JSON: " + what,
                fmt::format("{}, line {}, column {}", origin, at.line, at.column));
  } catch (const nlohmann::json::exception& error) {
    const Position at = position_of(text, byte == 0 ? 0 : byte - 1);
    throw Error(ExitCode::usage, "not valid JSON: " + reason_of(error),
                fmt::format("{}, line {}, column {}", origin, at.line, at.column));
  }
}

}  // namespace memduel
