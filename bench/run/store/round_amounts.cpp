#include "round_amounts.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "util/error.h"
#include "util/json.h"
#include "util/text.h"

namespace memduel {
namespace {

using nlohmann::json;

constexpr std::string_view kNull = "null";

[[noreturn]] void damaged_amounts(const std::string& what) {
  throw Error(ExitCode::io, "the run store is damaged: " + what);
}

/// Removes `expected` from the front of `text`.
bool skip(std::string_view& text, char expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

double take_number(std::string_view& text) {
  if (text.starts_with(kNull)) {
    text.remove_prefix(kNull.size());
    return std::nan("");
  }
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc())
    damaged_amounts(fmt::format("expected a number, found \"{}\"",
                                valid_utf8(std::string(text.substr(0, 20)))));
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return value;
}

}  // namespace

std::string amounts_text(const Metrics& metrics) {
  std::string text = "[";
  for (const auto& [name, value] : metrics) {
    if (text.size() > 1) text += ',';
    if (std::isfinite(value))
      fmt::format_to(std::back_inserter(text), "{}", value);
    else
      text += kNull;
  }
  return text + ']';
}

MetricNamesWriter::MetricNamesWriter(const sqlite::Database& database)
    : insert_(database, "INSERT OR IGNORE INTO metric_names (names) VALUES (?)"),
      select_(database, "SELECT id FROM metric_names WHERE names = ?") {}

std::int64_t MetricNamesWriter::id_of(const Metrics& metrics) {
  json names = json::array();
  for (const auto& [name, value] : metrics) names.push_back(valid_utf8(name));
  const std::string text = names.dump();
  const auto known = known_.find(text);
  if (known != known_.end()) return known->second;
  insert_.bind(text).run();
  select_.bind(text).step();
  const std::int64_t id = select_.integer(0);
  select_.reset();
  return known_.emplace(text, id).first->second;
}

AmountsReader::AmountsReader(const sqlite::Database& database)
    : select_(database, "SELECT names FROM metric_names WHERE id = ?") {}

const std::vector<MetricName>& AmountsReader::names_of(std::int64_t id) {
  const auto known = known_.find(id);
  if (known != known_.end()) return known->second;
  if (!select_.bind(id).step()) damaged_amounts(fmt::format("found no metric names {}", id));
  const json names = parse_foreign_json(select_.text(0));
  select_.reset();
  if (!names.is_array()) damaged_amounts(fmt::format("metric names {} are no JSON array", id));
  std::vector<MetricName> list;
  std::string before;
  for (const json& name : names) {
    if (!name.is_string()) damaged_amounts(fmt::format("metric names {} are no strings", id));
    const auto text = name.get<std::string>();
    if (!list.empty() && text <= before)
      damaged_amounts(fmt::format("metric names {} are not in order", id));
    list.emplace_back(text);
    before = text;
  }
  return known_.emplace(id, std::move(list)).first->second;
}

Metrics AmountsReader::metrics_of(std::int64_t names, std::string_view amounts) {
  const std::vector<MetricName>& list = names_of(names);
  amounts_.clear();
  bool is_whole = skip(amounts, '[');
  for (std::size_t i = 0; i < list.size() && is_whole; ++i) {
    if (i > 0) is_whole = skip(amounts, ',');
    if (is_whole) amounts_.push_back(take_number(amounts));
  }
  if (!is_whole || amounts != "]")
    damaged_amounts(
        fmt::format("expected {} of a round or phase", format_count(list.size(), "number")));
  return {list, amounts_};
}

}  // namespace memduel
