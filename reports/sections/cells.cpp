#include "sections/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/metric_catalogue.h"
#include "model_json.h"
#include "profile/function_names.h"
#include "reports/memory_tables.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

const std::string kBytes = kPeakRss;  // any metric of bytes: format and exact value

}  // namespace

Cell bytes_cell(std::optional<double> bytes, const std::string& variant) {
  Cell cell(value_text(kBytes, bytes));
  cell.exact = exact_text(kBytes, bytes);
  cell.value = bytes;
  cell.variant = variant;
  return cell;
}

Cell difference_cell(double bytes) {
  Cell cell(bytes == 0 ? "0 B" : signed_metric(kBytes, bytes), bytes < 0   ? Tone::good
                                                               : bytes > 0 ? Tone::bad
                                                                           : Tone::plain);
  cell.exact = exact_text(kBytes, bytes);
  cell.value = bytes;
  return cell;
}

StackCell stack_cell(const std::string& function, const std::string& location,
                     std::vector<std::string> callers, std::vector<std::string> frames) {
  std::string asker;
  if (runtime_memory(function) != nullptr && !callers.empty()) {
    asker = std::move(callers.front());
    callers.erase(callers.begin());
  }
  return {called_from(function, asker, location), location, std::move(callers), std::move(frames)};
}

void link_flame(const ReportModel& model, const std::string& role, const std::string& variant,
                const std::string& view, StackCell& stack) {
  for (std::size_t i = 0; i < model.flames.shown.size(); ++i) {
    const FlamePair& pair = model.flames.shown[i].pair;
    const auto arm = std::ranges::find(pair.arms, variant);
    if (pair.role != role || arm == pair.arms.end()) continue;
    stack.flame = flame_id(i);
    stack.view = view;
    stack.side = view == "live-any" || pair.arms.size() == 1
                     ? (arm == pair.arms.begin() ? "first" : "second")
                     : "difference";
    return;
  }
}

Text with_location(const std::string& words, const std::string& location) {
  if (location.empty() || words.find(location) != std::string::npos) return words;
  const std::size_t caller = std::min(words.find(", called from "), words.size());
  Text text(words.substr(0, caller));
  const auto has_another_file = [&](std::size_t from, std::size_t to) {
    return words.substr(from, to - from).find(".py)") != std::string::npos;
  };
  // The line of a function that Python's standard library has is that of a caller.
  if (location.find(".py:") != std::string::npos && has_another_file(0, caller)) {
    text.add(words.substr(caller));
    const bool is_of_caller = caller < words.size() && !has_another_file(caller, words.size());
    if (is_of_caller) return text.add(" (" + location + ")", Tone::muted);
    const std::size_t kind = words.find(" (", words.find(".py)"));  // as "(small Python objects)"
    return Text(words.substr(0, kind) + ", called from " + location +
                (kind == std::string::npos ? "" : words.substr(kind)));
  }
  text.add(" (" + location + ")", Tone::muted);
  return caller == words.size() ? text : text.add(words.substr(caller));
}

void use_mebibytes(Table& table) {
  constexpr double kMebibyte = 1 << 20;
  const auto size_of = [](const Cell& cell) {
    return cell.exact.ends_with(" bytes") ? std::abs(cell.value.value_or(0)) : 0;
  };
  bool has_mebibytes = false;
  for (const Row& row : table.rows)
    for (const Cell& cell : row.cells) has_mebibytes = has_mebibytes || size_of(cell) >= kMebibyte;
  if (!has_mebibytes) return;
  for (Row& row : table.rows)
    for (Cell& cell : row.cells) {
      if (size_of(cell) == 0 || size_of(cell) >= kMebibyte || cell.text.empty()) continue;
      const std::vector<TextRun> runs = cell.text.runs();
      const char* sign = runs.front().text.starts_with('+') ? "+" : "";
      cell.text = Text(sign + value_text_like(kBytes, cell.value, kMebibyte), runs.front().tone);
      for (std::size_t i = 1; i < runs.size(); ++i) cell.text.add(runs[i].text, runs[i].tone);
    }
}

Cell bar_cell(double from, double to, double low, double high, const std::string& variant,
              Tone tone) {
  Cell cell;
  const double reach = high - low;
  if (reach <= 0) return cell;
  const auto place = [&](double value) { return (value - low) / reach; };
  cell.track =
      Track{{{MarkKind::bar, place(std::min(from, to)), place(std::max(from, to)), variant, tone}}};
  return cell;
}

Table waterfall(const std::vector<Step>& steps) {
  Table table;
  table.columns = {{"part"}, {"", false, false, Medium::page}, {"difference", true}};
  table.look = "waterfall";
  table.has_heading = false;
  double low = 0;
  double high = 0;
  double at = 0;
  for (const Step& step : steps) {
    at = step.is_whole ? step.size : at + step.size;
    low = std::min(low, at);
    high = std::max(high, at);
  }
  at = 0;
  for (const Step& step : steps) {
    const double from = step.is_whole ? 0 : at;
    at = from + step.size;
    const Tone tone = step.is_whole   ? Tone::plain
                      : step.size < 0 ? Tone::good
                      : step.size > 0 ? Tone::bad
                                      : Tone::plain;
    Row row;
    if (step.is_whole) row.kind = RowKind::total;
    Cell name(step.name);
    name.stack = step.stack;
    row.cells.push_back(std::move(name));
    row.cells.push_back(bar_cell(from, at, low, high, step.variant, tone));
    Cell amount(step.amount, tone);
    amount.exact = step.exact;
    amount.value = step.size;
    amount.variant = step.variant;
    row.cells.push_back(std::move(amount));
    table.rows.push_back(std::move(row));
  }
  use_mebibytes(table);
  return table;
}

}  // namespace memduel
