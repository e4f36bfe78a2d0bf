#include "model/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace memduel {
namespace {

/// Where the last step of a path begins; 0 for a text that is no path.
std::size_t last_step(const std::string& path) {
  const std::size_t at = path.find_last_of(".[");
  return at == std::string::npos ? 0 : at;
}

}  // namespace

bool is_index(const std::string& step) {
  return !step.empty() &&
         std::ranges::all_of(step, [](unsigned char c) { return std::isdigit(c) != 0; });
}

JsonPath below(JsonPath path, const std::string& key) {
  path.push_back(key);
  return path;
}

JsonPath below(JsonPath path, std::size_t index) {
  return below(std::move(path), std::to_string(index));
}

std::string Places::at(const JsonPath& path) const {
  return located(json_place(file_, path));
}

std::string Places::set_path(const JsonPath& path) const {
  std::string steps = origin_of(format_json_path(path)).substr(std::string_view("$.").size());
  std::erase(steps, ']');
  std::ranges::replace(steps, '[', '.');
  return steps;
}

std::string Places::origin_of(const std::string& path) const {
  for (std::string around = path; around.size() > 1; around.resize(last_step(around)))
    if (const auto origin = origins_.find(around); origin != origins_.end())
      return origin->second + path.substr(around.size());
  return path;
}

std::string Places::located(const std::string& place) const {
  if (!place.starts_with(file_ + ", $")) return place;
  const std::string path = origin_of(place.substr(file_.size() + 2));
  if (!lines_.empty() && !lines_.contains(path) && !options_.contains(path)) {
    // A key that an option below it made.
    const auto option = options_.lower_bound(path);
    if (option != options_.end() &&
        (option->first.starts_with(path + ".") || option->first.starts_with(path + "[")))
      return fmt::format("{}, {} ({})", file_, path, option->second);
  }
  for (std::string around = path; around.size() > 1; around.resize(last_step(around))) {
    if (const auto option = options_.find(around); option != options_.end())
      return fmt::format("{}, {} ({})", file_, path, option->second);
    if (const auto line = lines_.find(around); line != lines_.end())
      return fmt::format("{}, line {}, {}", file_, line->second, path);
  }
  return file_ + ", " + path;
}

void Places::replace(const JsonPath& path, const std::string& option) {
  const std::string text = format_json_path(path);
  std::erase_if(lines_, [&](const auto& line) {
    return line.first == text || line.first.starts_with(text + ".") ||
           line.first.starts_with(text + "[");
  });
  options_[text] = option;
}

void Places::rearrange(const std::string& list, const std::vector<std::size_t>& from) {
  const auto element = [&](std::size_t index) {
    return format_json_path({list, std::to_string(index)});
  };
  std::map<std::string, std::string> origins;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::string before = element(from[i]);
    origins[element(i)] = origin_of(before);
    for (const auto& [path, origin] : origins_)
      if (path.starts_with(before + ".")) origins[element(i) + path.substr(before.size())] = origin;
  }
  origins_ = std::move(origins);
}

void Places::move(const JsonPath& path, const JsonPath& origin) {
  origins_[format_json_path(path)] = format_json_path(origin);
}

void Places::add_line(const JsonPath& path, std::size_t line) {
  lines_.emplace(format_json_path(path), line);
}

std::string format_json_path(const JsonPath& path) {
  std::string text = "$";
  for (const std::string& step : path) text += is_index(step) ? "[" + step + "]" : "." + step;
  return text;
}

std::string json_place(const std::string& origin, const JsonPath& path) {
  return origin + ", " + format_json_path(path);
}

}  // namespace memduel
