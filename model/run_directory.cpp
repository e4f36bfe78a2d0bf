#include "model/run_directory.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "util/error.h"

namespace memduel {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kExtensions = {
    {{kRecorderTracer, "mdp"},
     {"heaptrack", "heaptrack.zst"},
     {"gperftools", "gperftools.heap"},
     {"jemalloc", "jemalloc.heap"}}};

/// A number of digits alone, from 1 on.
template <typename Number>
std::optional<Number> number_from(std::string_view text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || at != end || number < 1) return std::nullopt;
  return number;
}

/// Takes the last part of `name` away where it is `.`, `prefix` and a number.
template <typename Number>
std::optional<Number> take_number(std::string_view& name, std::string_view prefix) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || !name.substr(dot + 1).starts_with(prefix)) return {};
  const auto number = number_from<Number>(name.substr(dot + 1 + prefix.size()));
  if (number) name = name.substr(0, dot);
  return number;
}

std::string parts_between(std::size_t image, std::optional<int> round) {
  std::string parts;
  if (image > 1) parts += fmt::format(".{}", image);
  if (round) parts += fmt::format(".round{}", *round);
  return parts;
}

}  // namespace

std::string profile_extension(std::string_view tracer) {
  for (const auto& [name, extension] : kExtensions)
    if (name == tracer) return std::string(extension);
  throw Error(ExitCode::usage, fmt::format("there is no profiler \"{}\"", tracer), {}, kAllTracers);
}

std::string to_text(const ProfileName& name) {
  return fmt::format("{}-{}{}.{}", name.trial, name.role, parts_between(name.image, name.round),
                     profile_extension(name.tracer));
}

std::optional<ProfileName> profile_name_from(std::string_view file) {
  ProfileName name;
  for (const auto& [tracer, extension] : kExtensions) {
    if (!file.ends_with(extension) || file.size() <= extension.size() ||
        file[file.size() - extension.size() - 1] != '.')
      continue;
    name.tracer = tracer;
    file.remove_suffix(extension.size() + 1);
    break;
  }
  const std::size_t dash = file.find('-');
  if (name.tracer.empty() || dash == std::string_view::npos) return std::nullopt;
  const auto trial = number_from<std::int64_t>(file.substr(0, dash));
  if (!trial) return std::nullopt;
  name.trial = *trial;
  std::string_view rest = file.substr(dash + 1);
  name.round = take_number<int>(rest, "round");
  name.image = take_number<std::size_t>(rest, "").value_or(1);
  name.role = rest;
  if (name.role.empty()) return std::nullopt;
  return name;
}

std::filesystem::path profile_beside(const std::filesystem::path& first, std::string_view tracer,
                                     std::size_t image, std::optional<int> round) {
  const std::string parts = parts_between(image, round);
  if (parts.empty()) return first;
  std::string stem = first.string();
  std::string ending = "." + profile_extension(tracer);
  if (!stem.ends_with(ending)) ending = first.extension().string();
  stem.resize(stem.size() - ending.size());
  return stem + parts + ending;
}

}  // namespace memduel
