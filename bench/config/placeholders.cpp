#include "config/placeholders.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "config/config_json.h"
#include "trial/processes.h"
#include "util/error.h"
#include "util/text.h"

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

namespace {

using nlohmann::json;

using Names = std::vector<std::string>;
const Names kOfTrial = {"trial_dir", "seed", "block", "deadline_seconds", "port:NAME", "node:ROLE"};
const Names kOfProcess = {"trial_dir", "seed",      "block",    "deadline_seconds",
                          "index",     "port:NAME", "node:ROLE"};
constexpr std::size_t kMostPorts = 256;
const Names kOfCompare = {"a", "b"};

bool is_port(const std::string& name) {
  return name.starts_with("port:") && name.size() > 5;
}

/// Only a provider says which there are.
bool is_of_site(const std::string& name) {
  return name.starts_with("site:");
}

bool is_one_of(const Names& known, const std::string& name) {
  if (is_of_site(name)) return true;
  const std::string kind = is_port(name)                                  ? "port:NAME"
                           : name.starts_with("node:") && name.size() > 5 ? "node:ROLE"
                                                                          : name;
  return std::ranges::find(known, kind) != known.end();
}

/// Visits a text with its place in the document and what may stand in it.
using Visit =
    std::function<void(const std::string& text, const JsonPath& path, const Names& known)>;

void visit_all(const json& texts, const JsonPath& path, const Names& known, const Visit& visit) {
  if (texts.is_string()) return visit(texts, path, known);
  if (!texts.is_structured()) return;
  std::size_t number = 0;
  for (const auto& item : texts.items()) {
    JsonPath at = path;
    at.push_back(texts.is_array() ? std::to_string(number++) : item.key());
    visit_all(item.value(), at, known, visit);
  }
}

void visit_member(const json& object, const JsonPath& path, const std::string& key,
                  const Names& known, const Visit& visit) {
  const auto member = object.find(key);
  if (member == object.end()) return;
  JsonPath at = path;
  at.push_back(key);
  visit_all(*member, at, known, visit);
}

void visit_elements(const json& workload, const std::string& list, const Names& keys,
                    const Names& known, const Visit& visit) {
  std::size_t number = 0;
  for (const json& element : workload.value(list, json::array())) {
    const JsonPath path = {"workload", list, std::to_string(number++)};
    for (const std::string& key : keys) visit_member(element, path, key, known, visit);
    if (const auto ready = element.find("ready"); ready != element.end()) {
      JsonPath at = path;
      at.emplace_back("ready");
      visit_member(*ready, at, "file", known, visit);
    }
  }
}

void visit_workload(const json& workload, const Visit& visit) {
  visit_elements(workload, "processes", {"argv", "cwd", "env"}, kOfProcess, visit);
  visit_elements(workload, "marks", {"from"}, kOfProcess, visit);
  visit_elements(workload, "templates", {"from", "json", "to"}, kOfTrial, visit);
  if (const auto model = workload.find("final_model"); model != workload.end()) {
    visit_member(*model, {"workload", "final_model"}, "path", kOfTrial, visit);
    visit_member(*model, {"workload", "final_model"}, "compare", kOfCompare, visit);
  }
  visit_elements(workload, "files", {"path"}, kOfTrial, visit);
  visit_elements(workload, "files", {"compare"}, kOfCompare, visit);
  for (const char* key : {"prepare", "cleanup", "cwd"}) {
    visit_member(workload, {"workload"}, key, kOfTrial, visit);
  }
}

/// Lines with their ends, and where each is.
void each_line(const std::string& text, const std::string& file,
               const std::function<void(const std::string&, const std::string&)>& visit) {
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t newline = text.find('\n', begin);
    const std::size_t end = newline == std::string::npos ? text.size() : newline + 1;
    visit(text.substr(begin, end - begin), fmt::format("{}, line {}", file, ++number));
    begin = end;
  }
}

void check_names(const std::string& text, const Names& known, const std::string& place) {
  fill_placeholders(
      text,
      [&](const std::string& name) {
        return is_one_of(known, name) ? std::optional(name) : std::nullopt;
      },
      known, place);
}

void check_text(const std::string& text, const Names& known, const std::string& place) {
  if (text.find('\0') != std::string::npos) {
    throw Error(ExitCode::usage, "found a NUL character, which no argument or path can hold",
                place);
  }
  check_names(text, known, place);
}

}  // namespace

void check_command_texts(const json& workload, const std::string& origin) {
  visit_workload(workload, [&](const auto& text, const auto& path, const auto& known) {
    check_text(text, known, json_place(origin, path));
  });
}

void check_arm_texts(const json& arm, const std::string& place) {
  const auto check = [&](const auto& text, const auto& path, const auto& known) {
    check_text(text, known, place + format_json_path(path).substr(1));
  };
  for (const char* key : {"argv", "append", "env", "cwd"})
    visit_member(arm, {}, key, kOfProcess, check);
  visit_member(arm, {}, "templates", kOfTrial, check);
}

void check_template_text(const std::string& text, const std::string& file) {
  each_line(text, file, [](const std::string& line, const std::string& place) {
    check_names(line, kOfTrial, place);
  });
}

bool mentions_block(const json& workload) {
  bool found = false;
  visit_workload(workload, [&](const std::string& text, const auto&, const auto&) {
    found = found || text.find("{block}") != std::string::npos;
  });
  return found;
}

TrialPlaceholders::TrialPlaceholders(const PlaceholderValues& values)
    : values_{{"trial_dir", values.trial_dir.string()},
              {"seed", std::to_string(values.seed)},
              {"block", std::to_string(values.block)},
              {"deadline_seconds", fmt::format("{}", values.deadline_seconds)}} {
  for (const auto& [name, value] : values.site) values_["site:" + name] = value;
  for (const auto& [role, address] : values.nodes) values_["node:" + role] = address;
}

int TrialPlaceholders::port(const std::string& name) {
  const auto found = ports_.find(name);
  if (found != ports_.end()) return found->second;
  if (ports_.size() == kMostPorts)
    throw Error(ExitCode::usage, fmt::format("found a port after {} others", kMostPorts),
                "{port:" + name + "}", "a trial may have so many and no more");
  const auto taken = [&](int port) {
    return std::ranges::any_of(ports_, [&](const auto& other) { return other.second == port; });
  };
  int port = free_port();
  while (taken(port)) port = free_port();
  return ports_[name] = port;
}

std::optional<std::string> TrialPlaceholders::value_of(const std::string& name) {
  if (is_port(name)) return std::to_string(port(name.substr(5)));
  if (name == "index" && index_) return std::to_string(*index_);
  const auto found = values_.find(name);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::string TrialPlaceholders::fill(const std::string& text, const std::string& place) {
  return fill_placeholders(
      text, [this](const std::string& name) { return value_of(name); },
      index_ ? kOfProcess : kOfTrial, place);
}

std::string TrialPlaceholders::fill_template(const std::string& text, const std::string& file) {
  std::string result;
  each_line(text, file, [&](const std::string& line, const std::string& place) {
    result += fill(line, place);
  });
  return result;
}

json TrialPlaceholders::filled(const json& value, const std::string& place) {
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    const std::string whole = fill(text, place);
    const bool is_number = text == "{seed}" || text == "{block}" || text == "{deadline_seconds}" ||
                           (text.starts_with("{port:") && text.find('}') == text.size() - 1);
    return is_number ? json::parse(whole) : json(whole);
  }
  if (!value.is_structured()) return value;
  json result = value;
  for (json& element : result) element = filled(element, place);
  return result;
}

std::string TrialPlaceholders::fill_json(const std::string& text, const std::string& place) {
  return filled(json::parse(text), place).dump(2) + "\n";
}

std::string TrialPlaceholders::fill_pattern(const std::string& text) {
  return fill_known_placeholders(text, [this](const std::string& name) { return value_of(name); });
}

}  // namespace memduel
