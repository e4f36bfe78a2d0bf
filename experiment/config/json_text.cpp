#include "experiment/config/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>
#include <stdexcept>

#include "base/error.h"
#include "base/foreign_json.h"
#include "base/json_reason.h"
#include "base/text.h"

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

bool is_index(const std::string& step) {
  return !step.empty() &&
         std::ranges::all_of(step, [](unsigned char c) { return std::isdigit(c) != 0; });
}

[[noreturn]] void refuse_set(const std::string& assignment, const std::string& what,
                             const std::string& advice) {
  throw Error(ExitCode::usage, what, "--set " + assignment, advice);
}

nlohmann::json& array_element(nlohmann::json& array, const std::string& step,
                              const std::string& assignment) {
  if (is_index(step)) {
    std::size_t index = array.size();
    std::from_chars(step.data(), step.data() + step.size(), index);
    if (index < array.size()) return array[index];
    refuse_set(assignment, fmt::format("found index {}, expected one below {}", step, array.size()),
               "");
  }
  std::vector<std::string> names;
  for (auto& element : array) {
    const auto name = element.is_object() ? element.find("name") : element.end();
    if (name == element.end() || !name->is_string()) continue;
    if (*name == step) return element;
    names.push_back(*name);
  }
  refuse_set(assignment, fmt::format("no element is named \"{}\"", step),
             nearest_advice(step, names));
}

}  // namespace

nlohmann::json parse_json_text(std::string_view text, const std::string& origin) {
  std::size_t byte = 0;
  // Of the objects that the parser is in: where each key was.
  std::vector<std::map<std::string, std::size_t>> keys;
  const auto look = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    using Event = nlohmann::json::parse_event_t;
    refuse_deep_json(depth, event, value);
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event != Event::key) return true;
    const auto [first, is_new] = keys.back().emplace(value.get<std::string>(), byte);
    if (is_new) return true;
    throw Error(ExitCode::usage,
                fmt::format("found \"{}\" twice, in line {} and in line {}", first->first,
                            position_of(text, first->second).line, position_of(text, byte).line),
                origin, "give it once");
  };
  if (const auto zero = text.find('\0'); zero != std::string_view::npos) {
    // The library takes it for the end of the text.
    const Position at = position_of(text, zero);
    throw Error(ExitCode::usage, "not valid JSON: found a byte of value 0",
                fmt::format("{}, line {}, column {}", origin, at.line, at.column),
                "write it in UTF-8");
  }
  try {
    return nlohmann::json::parse(CountedBytes{text.data(), &byte, text.data()},
                                 CountedBytes{text.data() + text.size(), &byte, text.data()}, look,
                                 true, true);
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

std::string format_json_path(const JsonPath& path) {
  std::string text = "$";
  for (const std::string& step : path) text += is_index(step) ? "[" + step + "]" : "." + step;
  return text;
}

std::string json_place(const std::string& origin, const JsonPath& path) {
  return origin + ", " + format_json_path(path);
}

void set_json_value(nlohmann::json& document, const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    refuse_set(assignment, "expected path=value", "for example --set workload.rounds=10");
  }
  nlohmann::json* at = &document;
  std::string_view rest = std::string_view(assignment).substr(0, equals);
  while (true) {
    const auto dot = rest.find('.');
    const std::string step(rest.substr(0, dot));
    if (step.empty()) refuse_set(assignment, "found an empty step in the path", "");
    if (at->is_array()) {
      at = &array_element(*at, step, assignment);
    } else if (at->is_object() || at->is_null()) {
      at = &(*at)[step];
    } else {
      refuse_set(assignment,
                 fmt::format("\"{}\" is inside a value of type {}", step, at->type_name()), "");
    }
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  const std::string text = assignment.substr(equals + 1);
  nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  *at = value.is_discarded() ? nlohmann::json(text) : std::move(value);
}

}  // namespace memduel
