#include "config/placeholders.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "config/config_json.h"
#include "config/read_document.h"
#include "model/document.h"
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

constexpr std::string_view kIndex = "{index}";
constexpr std::string_view kWord =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

/// Bytes of `text` from `at` on that are the name of a port: "fl", "node-{index}".
std::size_t port_span(std::string_view text, std::size_t at) {
  std::size_t end = at + span(text, at, kWord);
  while (text.substr(std::min(end, text.size())).starts_with(kIndex)) {
    end += kIndex.size();
    end += span(text, end, kWord);
  }
  return end - at;
}

/// What stands between the braces of the placeholder that begins at `at`; empty when none does.
std::string_view name_at(std::string_view text, std::size_t at) {
  constexpr std::string_view kName = "abcdefghijklmnopqrstuvwxyz_";
  if (at >= text.size() || text[at] != '{') return {};
  std::size_t end = at + 1 + span(text, at + 1, kName);
  if (end == at + 1) return {};
  const bool is_port = text.substr(at + 1).starts_with("port:");
  if (end < text.size() && text[end] == ':')
    end += 1 + (is_port ? port_span(text, end + 1) : span(text, end + 1, kWord));
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
  throw Error(
      ExitCode::usage,
      fmt::format("unknown placeholder {{{}}}, expected {{{}}}", name, fmt::join(known, "}, {")),
      place, fmt::format("{}{{{{{}}}}} is the literal text", instead, name));
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
  const bool has_index = name.find(kIndex) != std::string::npos;
  if (has_index && std::ranges::find(known, "index") == known.end()) return false;
  if (is_of_site(name)) return true;
  const std::string kind = is_port(name)                                  ? "port:NAME"
                           : name.starts_with("node:") && name.size() > 5 ? "node:ROLE"
                                                                          : name;
  return std::ranges::find(known, kind) != known.end();
}

/// Visits a text with its place in the document and what may stand in it.
using Visit =
    std::function<void(const std::string& text, const JsonPath& path, const Names& known)>;

/// Calls `visit` with the texts of one value of a config after the other.
class TextWalk {
 public:
  TextWalk(const Visit& visit, JsonPath root) : visit_(visit), path_(std::move(root)) {}

  void text(const std::string& text, const Names& known) const { visit_(text, path_, known); }
  template <typename Key, typename Walk>
  void inside(const Key& step, const Walk& walk) {
    if constexpr (std::is_integral_v<Key>)
      path_.push_back(std::to_string(step));
    else
      path_.emplace_back(step);
    walk();
    path_.pop_back();
  }
  void text_at(const char* key, const std::string& value, const Names& known) {
    inside(key, [&] { text(value, known); });
  }
  void words_at(const std::string& key, const Argv& words, const Names& known) {
    inside(key, [&] { elements(words, [&](const std::string& word) { text(word, known); }); });
  }
  void environment(const Environment& env, const Names& known) {
    inside("env", [&] {
      for (const auto& [name, value] : env) inside(name, [&] { text(value, known); });
    });
  }
  template <typename List, typename Walk>
  void elements(const List& list, const Walk& walk) {
    for (std::size_t i = 0; i < list.size(); ++i) inside(i, [&] { walk(list[i]); });
  }
  template <typename List, typename Walk>
  void elements_at(const char* key, const List& list, const Walk& walk) {
    inside(key, [&] { elements(list, walk); });
  }
  /// The strings of any JSON value.
  void document(const json& value, const Names& known) {
    if (value.is_string()) return text(value.get_ref<const std::string&>(), known);
    if (!value.is_structured()) return;
    std::size_t index = 0;
    for (const auto& item : value.items())
      inside(value.is_array() ? std::to_string(index++) : item.key(),
             [&] { document(item.value(), known); });
  }

  void processes(const std::vector<JobProcess>& all) {
    elements_at("processes", all, [&](const JobProcess& process) {
      words_at("argv", process.argv, kOfProcess);
      text_at("cwd", process.cwd, kOfProcess);
      environment(process.env, kOfProcess);
      if (process.ready && process.ready->file)
        inside("ready", [&] { text_at("file", *process.ready->file, kOfProcess); });
    });
  }
  void templates(const std::vector<JobTemplate>& all) {
    elements_at("templates", all, [&](const JobTemplate& each) {
      if (each.from) text_at("from", *each.from, kOfTrial);
      if (each.json) inside("json", [&] { document(*each.json, kOfTrial); });
      text_at("to", each.to, kOfTrial);
    });
  }
  void steps(const char* key, const std::vector<Argv>& commands) {
    elements_at(key, commands, [&](const Argv& argv) {
      elements(argv, [&](const std::string& word) { text(word, kOfTrial); });
    });
  }
  void job(const Job& job) {
    processes(job.processes);
    elements_at("marks", job.marks, [&](const TextMarkSpec& mark) {
      inside("from", [&] { text_at("file", mark.file.string(), kOfProcess); });
    });
    templates(job.templates);
    if (job.final_model)
      inside("final_model", [&] {
        text_at("path", job.final_model->path, kOfTrial);
        words_at("compare", job.final_model->compare, kOfCompare);
      });
    elements_at("files", job.files, [&](const JobFile& file) {
      text_at("path", file.path, kOfTrial);
      words_at("compare", file.compare, kOfCompare);
    });
    steps("prepare", job.prepare);
    steps("cleanup", job.cleanup);
    text_at("cwd", job.cwd, kOfTrial);
  }

  void variant(const Variant& variant) {
    for (const auto& [key, changes] :
         {std::pair{"argv", &variant.argv}, {"append", &variant.append}})
      inside(key, [&, &all = *changes] {
        for (const auto& [role, words] : all) words_at(role, words, kOfProcess);
      });
    environment(variant.env, kOfProcess);
    steps("prepare", variant.prepare);
    steps("cleanup", variant.cleanup);
    if (variant.cwd) text_at("cwd", *variant.cwd, kOfProcess);
    templates(variant.templates);
  }

 private:
  const Visit& visit_;
  JsonPath path_;
};

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

/// The first placeholder that may not be here.
std::optional<std::string> unknown_name(const std::string& text, const Names& known) {
  std::optional<std::string> unknown;
  filled(text, [&](const std::string& name) {
    if (!unknown && !is_one_of(known, name)) unknown = name;
    return std::nullopt;
  });
  return unknown;
}

/// "{port:a b}", which would stay as it is.
void refuse_malformed(const std::string& text, const std::string& place) {
  constexpr std::string_view kPort = "{port:";
  for (std::size_t at = text.find(kPort); at != std::string::npos; at = text.find(kPort, at + 1)) {
    const bool is_literal = at > 0 && (text[at - 1] == '{' || text[at - 1] == '$');
    const bool is_meant = port_span(text, at + kPort.size()) > 0;  // not "{port: 80}"
    if (is_literal || !is_meant || !name_at(text, at).empty()) continue;
    const std::string found = text.substr(at, text.find('}', at) - at + 1);
    throw Error(
        ExitCode::usage,
        fmt::format("expected {{port:NAME}} with a NAME of letters, digits and . _ -, found "
                    "\"{}\"",
                    found),
        place,
        fmt::format("in a process with \"count\" also {{port:NAME-{{index}}}}; {{{} is the "
                    "literal text",
                    found));
  }
}

/// @param roles whose nodes may be asked for, as "node:ROLE"
void check_text(const std::string& text, const Names& known, const Names& nodes,
                const Places& places, const JsonPath& path) {
  if (text.find('\0') != std::string::npos)
    throw Error(ExitCode::usage, "found a NUL character, which arguments and paths cannot contain",
                places.at(path));
  if (const auto name = unknown_name(text, known)) refuse(*name, known, places.at(path));
  refuse_malformed(text, places.at(path));
  filled(text, [&](const std::string& name) -> std::optional<std::string> {
    if (name.starts_with("node:") && std::ranges::find(nodes, name) == nodes.end())
      refuse(name, nodes, places.at(path));
    return std::nullopt;
  });
}

/// Of a copied file nobody knows yet which ports it names.
bool copies_files(const std::vector<JobTemplate>& templates) {
  return std::ranges::any_of(templates,
                             [](const JobTemplate& one) { return one.from.has_value(); });
}

/// The names of ports with {index} filled in for every process of a count.
Names each_port(const Names& named, const Job& job) {
  int count = 1;
  for (const JobProcess& process : job.processes)
    count = std::max(count, process.count.value_or(1));
  Names all;
  for (const std::string& name : named) {
    const bool has_index = name.find(kIndex) != std::string::npos;
    for (int index = 1; index <= (has_index ? count : 1); ++index)
      all.push_back(fill_known_placeholders(name, [&](const std::string& placeholder) {
        return placeholder == "index" ? std::optional(std::to_string(index)) : std::nullopt;
      }));
  }
  return all;
}

/// A process or a match that listens on a port that no text of the job names.
void refuse_unnamed_ports(const Document& document, const Names& named, const Places& places) {
  const Job& job = document.workload.job;
  if (copies_files(job.templates) || std::ranges::any_of(document.variants, [](const Variant& one) {
        return copies_files(one.templates);
      }))
    return;
  const auto refuse_unnamed = [&](const std::string& name, const Names& known,
                                  const JsonPath& path) {
    if (std::ranges::find(known, name) != known.end()) return;
    throw Error(ExitCode::usage,
                fmt::format("expected the NAME of a {{port:NAME}} in the job, found \"{0}\"", name),
                places.at(path), nearest_advice(name, known));
  };
  for (std::size_t i = 0; i < job.processes.size(); ++i)
    if (const auto& ready = job.processes[i].ready; ready && ready->port_name)
      refuse_unnamed(*ready->port_name, named,
                     {"workload", "processes", std::to_string(i), "ready", "port"});
  const Names each = each_port(named, job);
  for (std::size_t i = 0; i < job.match.size(); ++i) {
    const JsonPath path = {"workload", "match", std::to_string(i)};
    if (job.match[i].port_name) refuse_unnamed(*job.match[i].port_name, each, below(path, "port"));
    filled(job.match[i].pattern, [&](const std::string& name) -> std::optional<std::string> {
      if (is_port(name))
        refuse_unnamed(name.substr(name.find(':') + 1), each, below(path, "pattern"));
      return std::nullopt;
    });
  }
}

}  // namespace

void check_texts(const Document& document, const Places& places) {
  Names nodes;
  for (const JobProcess& process : document.workload.job.processes)
    for (const std::string& role : process.roles()) nodes.push_back("node:" + role);
  Names ports;
  const Visit check = [&](const auto& text, const auto& path, const auto& known) {
    check_text(text, known, nodes, places, path);
    filled(text, [&](const std::string& name) -> std::optional<std::string> {
      if (is_port(name)) ports.push_back(name.substr(name.find(':') + 1));
      return std::nullopt;
    });
  };
  TextWalk(check, {"workload"}).job(document.workload.job);
  for (std::size_t i = 0; i < document.variants.size(); ++i)
    TextWalk(check, variant_path(i)).variant(document.variants[i]);
  refuse_unnamed_ports(document, ports, places);
}

void check_template_text(const std::string& text, const std::string& file) {
  each_line(text, file, [](const std::string& line, const std::string& place) {
    if (const auto name = unknown_name(line, kOfTrial)) refuse(*name, kOfTrial, place);
  });
}

bool mentions_block(const Job& job) {
  bool found = false;
  const Visit look = [&](const std::string& text, const auto&, const auto&) {
    found = found || text.find("{block}") != std::string::npos;
  };
  TextWalk(look, {}).job(job);
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

int TrialPlaceholders::port(std::string name) {
  for (std::size_t at = name.find(kIndex); index_ && at != std::string::npos;
       at = name.find(kIndex))
    name.replace(at, kIndex.size(), std::to_string(*index_));
  const auto found = ports_.find(name);
  if (found != ports_.end()) return found->second;
  if (ports_.size() == kMostPorts)
    throw Error(ExitCode::usage, fmt::format("found a port after {} others", kMostPorts),
                "{port:" + name + "}", "a trial may have at most so many");
  const auto taken = [&](int port) {
    return std::ranges::any_of(ports_, [&](const auto& other) { return other.second == port; });
  };
  int port = free_port();
  while (taken(port)) port = free_port();
  return ports_[name] = port;
}

std::optional<std::string> TrialPlaceholders::value_of(const std::string& name) {
  if (!index_ && name.find(kIndex) != std::string::npos) return std::nullopt;
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

std::string TrialPlaceholders::fill_json(const json& document, const std::string& place) {
  return filled(document, place).dump(2) + "\n";
}

std::string TrialPlaceholders::fill_pattern(const std::string& text) {
  return fill_known_placeholders(text, [this](const std::string& name) { return value_of(name); });
}

}  // namespace memduel
