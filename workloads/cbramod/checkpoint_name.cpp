#include "checkpoint_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace memduel {
namespace {

constexpr std::array<std::string_view, 3> kEndings = {".pth", ".pt", ".ckpt"};
constexpr std::string_view kEpoch = "epoch";

/// The signs between metrics, and between a metric and its value.
struct Writing {
  char between;
  char equals;
};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}

bool is_metric(std::string_view text) {
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, is_word);
}

/// Takes a number from the front of `text`.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Takes "METRIC EQUALS VALUE" from the front of `text`, up to its end or the next metric. A metric
/// may itself hold the sign before its value: then the first value that is a whole number counts.
std::optional<std::pair<std::string, double>> take_metric(std::string_view& text, Writing signs) {
  for (std::size_t at = text.find(signs.equals); at != std::string_view::npos;
       at = text.find(signs.equals, at + 1)) {
    std::string_view rest = text.substr(at + 1);
    const std::optional<double> value = take_number<double>(rest);
    if (!value || (!rest.empty() && rest.front() != signs.between)) continue;
    const std::string_view metric = text.substr(0, at);
    if (!is_metric(metric)) return std::nullopt;
    text = rest;
    return std::pair(std::string(metric), *value);
  }
  return std::nullopt;
}

/// `text` is what follows the epoch: metrics, each after the sign between them.
std::optional<CheckpointName> take_metrics(std::int64_t epoch, std::string_view text,
                                           Writing signs) {
  CheckpointName name{epoch, {}};
  while (!text.empty()) {
    if (text.front() != signs.between) return std::nullopt;
    text.remove_prefix(1);
    const auto metric = take_metric(text, signs);
    if (!metric || !name.metrics.insert(*metric).second) return std::nullopt;
  }
  return name;
}

/// Takes "-v1" from the end, which Lightning appends where the name is already taken.
void drop_version(std::string_view& text) {
  const std::size_t at = text.rfind("-v");
  if (at == std::string_view::npos) return;
  const std::string_view version = text.substr(at + 2);
  if (!version.empty() && std::ranges::all_of(version, is_digit)) text = text.substr(0, at);
}

std::string_view ending_of(std::string_view file_name) {
  const auto* const ending = std::ranges::find_if(
      kEndings, [&](std::string_view one) { return file_name.ends_with(one); });
  return ending == kEndings.end() ? std::string_view{} : *ending;
}

}  // namespace

bool ends_as_checkpoint(std::string_view file_name) {
  return !ending_of(file_name).empty();
}

std::optional<CheckpointName> parse_checkpoint_name(std::string_view file_name) {
  if (!ends_as_checkpoint(file_name) || !file_name.starts_with(kEpoch)) return std::nullopt;
  std::string_view rest = file_name;
  rest.remove_suffix(ending_of(file_name).size());
  rest.remove_prefix(kEpoch.size());
  const bool lightning = rest.starts_with('=');
  if (lightning) {
    rest.remove_prefix(1);
    drop_version(rest);
  }
  const std::optional<std::int64_t> epoch = take_number<std::int64_t>(rest);
  if (!epoch || *epoch < 0) return std::nullopt;
  return take_metrics(*epoch, rest, lightning ? Writing{'-', '='} : Writing{'_', '_'});
}

std::string make_checkpoint_name(const CheckpointName& name) {
  std::string text = fmt::format("epoch{}", name.epoch);
  for (const auto& [metric, value] : name.metrics) text += fmt::format("_{}_{:.5f}", metric, value);
  return text + ".pth";
}

}  // namespace memduel
