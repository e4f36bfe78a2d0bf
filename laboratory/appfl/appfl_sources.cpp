#include "laboratory/appfl/appfl_sources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <tuple>

#include "base/error.h"
#include "base/text.h"

namespace memduel {
namespace {

constexpr const char* kLogs = "the logs of every process lie in the run's own directory";
constexpr const char* kPlots = "no plots of the data are drawn";
constexpr const char* kClientNames = "the clients are named client-1, client-2, …";

std::string shown(const AppflValue& value) {
  return value.text ? fmt::format("\"{}\"", *value.text) : "nothing";
}

bool is_or_ends_with(const std::string& key, std::string_view suffix) {
  if (!key.ends_with(suffix)) return false;
  return key.size() == suffix.size() || key[key.size() - suffix.size() - 1] == '.';
}

/// Why a key that nobody asked for is lost, by how it ends.
std::pair<std::string, LossKind> reason_for(const std::string& key) {
  static const std::vector<std::pair<std::string_view, std::string_view>> kReasons = {
      {"client_id", kClientNames},
      {"logging_id", kClientNames},
      {"experiment_id", "the experiment is named for the server's file"},
      {"logging_output_dirname", kLogs},
      {"logging_output_filename", kLogs},
      {"visualization", kPlots},
      {"output_dirname", kPlots},
      {"output_filename", kPlots},
      {"server_uri", "the roles of a trial meet on this machine, at a port that is free"},
  };
  for (const auto& [ending, why] : kReasons)
    if (is_or_ends_with(key, ending)) return {std::string(why), LossKind::harmless};
  return {"memduel has no counterpart", LossKind::other};
}

}  // namespace

AppflSources::AppflSources(const AppflFile& server, const std::vector<AppflFile>& clients) {
  if (clients.empty())
    throw Error(ExitCode::usage, "found no client file, expected one or more", server.name,
                "give the YAML file of each client after the server's");
  tables_.push_back({server.name, read_appfl_yaml(server.text, server.name), {}});
  for (const AppflFile& client : clients) {
    for (const Table& table : tables_)
      if (table.file == client.name)
        throw Error(ExitCode::usage, "found the same file twice", client.name,
                    "one client file stands for all clients");
    tables_.push_back({client.name, read_appfl_yaml(client.text, client.name), {}});
  }
}

const AppflValue* AppflSources::find(Table& table, const std::string& key) {
  table.asked.insert(key);
  const auto found = std::ranges::find(table.values, key, &AppflValue::key);
  return found == table.values.end() ? nullptr : &*found;
}

std::optional<AppflValue> AppflSources::server(const std::string& key) {
  const AppflValue* const found = find(tables_.front(), key);
  return found == nullptr ? std::nullopt : std::optional<AppflValue>(*found);
}

std::map<std::size_t, AppflValue> AppflSources::each_client(const std::string& key) {
  std::map<std::size_t, AppflValue> values;
  for (std::size_t i = 1; i < tables_.size(); ++i)
    if (const AppflValue* const found = find(tables_[i], key)) values.emplace(i - 1, *found);
  return values;
}

std::optional<AppflValue> AppflSources::client(const std::string& key) {
  const std::map<std::size_t, AppflValue> values = each_client(key);
  if (values.empty()) return std::nullopt;
  const AppflValue& first = values.begin()->second;
  for (const auto& [file, value] : values)
    if (value.text != first.text)
      lose(value, fmt::format("all clients are given one value: {} of {}, line {}, is used, not {}",
                              shown(first), first.file, first.line, shown(value)));
  if (values.size() < client_files())
    lose(first, "all clients are given one value, and not every client's file has this key");
  return first;
}

std::optional<AppflValue> AppflSources::shared(const std::string& key) {
  std::optional<AppflValue> handed_out = server("client_configs." + key);
  if (!handed_out) return client(key);
  for (const auto& [file, own] : each_client(key))
    if (own.text != handed_out->text)
      lose(own, fmt::format("the server hands out {} ({}, line {}), which wins over {}",
                            shown(*handed_out), handed_out->file, handed_out->line, shown(own)));
  return handed_out;
}

template <class Wanted>
std::vector<AppflValue> AppflSources::all_where(Wanted wanted) {
  std::vector<AppflValue> found;
  for (Table& table : tables_) {
    for (const AppflValue& value : table.values) {
      if (!wanted(value.key)) continue;
      table.asked.insert(value.key);
      found.push_back(value);
    }
  }
  return found;
}

std::vector<AppflValue> AppflSources::ending_with(std::string_view suffix) {
  return all_where([&](const std::string& key) { return is_or_ends_with(key, suffix); });
}

std::vector<AppflValue> AppflSources::below(const std::string& prefix) {
  return all_where(
      [&](const std::string& key) { return key == prefix || key.starts_with(prefix + "."); });
}

void AppflSources::ignore(const std::string& prefix) {
  static_cast<void>(below(prefix));
}

void AppflSources::lose(const AppflValue& value, const std::string& why, LossKind kind) {
  losses_.push_back({value.file, value.line, value.key, why, kind});
}

void AppflSources::expect(const std::optional<AppflValue>& value,
                          const std::vector<std::string>& same, const std::string& otherwise,
                          LossKind kind) {
  if (!value) return;
  if (std::ranges::find(same, to_text(*value)) == same.end()) lose(*value, otherwise, kind);
}

std::vector<ImportLoss> AppflSources::losses() const {
  std::vector<ImportLoss> all;
  const auto add = [&](const ImportLoss& loss) {
    const bool from_client = loss.file != server_file();
    const auto same = std::ranges::find_if(all, [&](const ImportLoss& other) {
      return from_client && other.file != server_file() && other.file != loss.file &&
             other.key == loss.key && other.why == loss.why;
    });
    if (same == all.end())
      all.push_back(loss);
    else
      ++same->same_in_files;
  };
  for (const ImportLoss& loss : losses_) add(loss);
  for (const Table& table : tables_) {
    for (const AppflValue& value : table.values) {
      if (table.asked.contains(value.key)) continue;
      const auto [why, kind] = reason_for(value.key);
      add({value.file, value.line, value.key, why, kind});
    }
  }
  const auto order = [&](const ImportLoss& loss) {
    return std::ranges::find(tables_, loss.file, &Table::file);
  };
  std::ranges::stable_sort(all, [&](const ImportLoss& a, const ImportLoss& b) {
    const auto place = [&](const ImportLoss& loss) {
      return std::make_tuple(loss.kind != LossKind::changes_memory, order(loss), loss.line);
    };
    return place(a) < place(b);
  });
  return all;
}

void AppflSources::missing(const std::string& key, bool in_client) const {
  throw Error(ExitCode::usage, fmt::format("found no {}", key), tables_[in_client ? 1 : 0].file,
              "is this APPFL's server file followed by its clients' files, and is it whole?");
}

const std::string& to_text(const AppflValue& value) {
  if (!value.text) throw Error(ExitCode::usage, "found nothing, expected a value", value.place());
  return *value.text;
}

std::int64_t to_whole(const AppflValue& value, std::int64_t least, std::int64_t most) {
  // Python reads 1_000 as 1000.
  std::string digits = to_text(value);
  std::erase(digits, '_');
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < least ||
      number > most)
    throw Error(ExitCode::usage, not_whole_number(shown(value), least, most), value.place());
  return number;
}

double to_positive(const AppflValue& value) {
  const std::string& text = to_text(value);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number) ||
      number <= 0)
    throw Error(ExitCode::usage, not_above_zero(shown(value)), value.place());
  return number;
}

bool to_flag(const AppflValue& value) {
  std::string word = to_text(value);
  std::ranges::transform(word, word.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  throw Error(ExitCode::usage, fmt::format("found {}, expected True or False", shown(value)),
              value.place());
}

void refuse_value(const AppflValue& value, const std::vector<std::string>& expected,
                  const std::string& advice) {
  throw Error(ExitCode::usage,
              fmt::format("found {}, expected {}", shown(value), fmt::join(expected, ", ")),
              value.place(), nearest_advice(value.text.value_or(""), expected, advice));
}

}  // namespace memduel
