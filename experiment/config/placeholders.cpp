#include "experiment/config/placeholders.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/text.h"

namespace memduel {
namespace {

/// Bytes of `text` from `at` on that are in `allowed`.
std::size_t span(std::string_view text, std::size_t at, std::string_view allowed) {
  const std::size_t end = text.find_first_not_of(allowed, at);
  return (end == std::string_view::npos ? text.size() : end) - at;
}

/// What stands between the braces of the placeholder that begins at `at`; empty when none does.
std::string_view name_at(std::string_view text, std::size_t at) {
  constexpr std::string_view kName = "abcdefghijklmnopqrstuvwxyz_";
  constexpr std::string_view kWord =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  if (at >= text.size() || text[at] != '{') return {};
  std::size_t end = at + 1 + span(text, at + 1, kName);
  if (end == at + 1) return {};
  if (end < text.size() && text[end] == ':') end += 1 + span(text, end + 1, kWord);
  if (end >= text.size() || text[end] != '}') return {};
  return text.substr(at + 1, end - at - 1);
}

/// `replace` gives the text for a placeholder, or nothing to leave it.
std::string filled(std::string_view text, const PlaceholderValue& replace) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const bool after_dollar = at > 0 && text[at - 1] == '$';
    const std::string_view literal = after_dollar ? std::string_view() : name_at(text, at + 1);
    if (text[at] == '{' && !literal.empty() && at + literal.size() + 3 < text.size() &&
        text[at + literal.size() + 3] == '}') {
      result.append(text.substr(at + 1, literal.size() + 2));
      at += literal.size() + 4;
      continue;
    }
    const std::string_view name = after_dollar ? std::string_view() : name_at(text, at);
    const auto value = name.empty() ? std::nullopt : replace(std::string(name));
    if (value) {
      result += *value;
      at += name.size() + 2;
    } else {
      result += text[at++];
    }
  }
  return result;
}

[[noreturn]] void refuse(const std::string& name, const std::vector<std::string>& known,
                         const std::string& place) {
  const auto nearest = nearest_name(name, known);
  const std::string instead =
      nearest ? fmt::format("did you mean {{{}}}? ", *nearest) : std::string();
  throw Error(ExitCode::usage,
              fmt::format("found unknown placeholder {{{}}}, expected {{{}}}", name,
                          fmt::join(known, "}, {")),
              place, fmt::format("{}{{{{{}}}}} stands for the text itself", instead, name));
}

}  // namespace

std::string fill_placeholders(std::string_view text, const PlaceholderValue& value,
                              const std::vector<std::string>& known, const std::string& place) {
  return filled(text, [&](const std::string& name) {
    auto found = value(name);
    if (!found) refuse(name, known, place);
    return found;
  });
}

std::string fill_known_placeholders(std::string_view text, const PlaceholderValue& value) {
  return filled(text, value);
}

}  // namespace memduel
