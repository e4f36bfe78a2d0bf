#include "stack_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "profile/function_names.h"

namespace memduel {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// `v9`, `v3_11_2`, and behind an underscore of what stands before.
bool ends_in_version(std::string_view name) {
  std::size_t number = name.size();
  while (number > 0 && (is_digit(name[number - 1]) || name[number - 1] == '_')) --number;
  if (number == 0 || number == name.size() || name[number - 1] != 'v') return false;
  return is_digit(name[number]) && (number == 1 || name[number - 2] == '_');
}

bool is_version(std::string_view name) {
  for (const std::string_view prefix : {"lts_", "icu_"}) {
    if (!name.starts_with(prefix) || name.size() == prefix.size()) continue;
    const std::string_view number = name.substr(prefix.size());
    if (std::ranges::all_of(number, is_digit)) return true;
  }
  return ends_in_version(name);
}

using Key = std::string (*)(const std::string& function);

std::string without_arguments_and_versions(const std::string& function) {
  return without_template_arguments(without_versions(function));
}

std::string short_without_versions(const std::string& function) {
  return short_name(without_versions(function));
}

/// Of each key the function that has it; empty where there are several.
std::map<std::string, std::string> by_key(const std::set<std::string>& functions, Key key) {
  std::map<std::string, std::string> found;
  for (const std::string& function : functions) {
    const auto [entry, first] = found.try_emplace(key(function), function);
    if (!first) entry->second.clear();
  }
  return found;
}

std::set<std::string> only_in(const std::set<std::string>& side,
                              const std::set<std::string>& other) {
  std::set<std::string> only;
  for (const std::string& function : side)
    if (!other.contains(function)) only.insert(function);
  return only;
}

}  // namespace

std::string without_versions(const std::string& function) {
  std::string plain;
  std::size_t kept = 0;
  for (std::size_t end = function.find("::"); end != std::string::npos;
       end = function.find("::", end + 2)) {
    std::size_t begin = end;
    while (begin > 0 && is_word(function[begin - 1])) --begin;
    if (!is_version(std::string_view(function).substr(begin, end - begin))) continue;
    plain += function.substr(kept, begin - kept);
    kept = end + 2;
  }
  return plain + function.substr(kept);
}

RenamedFunctions renamed_functions(const std::set<std::string>& baseline,
                                   const std::set<std::string>& candidate) {
  RenamedFunctions renamed;
  std::set<std::string> of_baseline = only_in(baseline, candidate);
  std::set<std::string> of_candidate = only_in(candidate, baseline);
  for (const Key key : {without_versions, without_arguments_and_versions, short_without_versions}) {
    const auto known = by_key(of_baseline, key);
    for (const auto& [shared, function] : by_key(of_candidate, key)) {
      const auto other = known.find(shared);
      if (function.empty() || other == known.end() || other->second.empty()) continue;
      renamed.emplace(function, other->second);
      of_candidate.erase(function);
      of_baseline.erase(other->second);
    }
  }
  return renamed;
}

std::string describe(const RenamedFunctions& renamed) {
  const bool one = renamed.size() == 1;
  return fmt::format(
      "{} {} only in a namespace's version, template arguments or parameters, and {} treated as "
      "the same.",
      renamed.size(), one ? "function differs" : "functions differ", one ? "is" : "are");
}

std::set<std::string> compiled_functions(const Profile& profile) {
  // Thousands of places lie in hundreds of functions.
  std::unordered_set<std::string_view> known;
  std::set<std::string> functions;
  for (const ProfileLocation& location : profile.locations) {
    if (location.kind == ProfileLocation::Kind::python) continue;
    for (const FrameName& frame : location.names)
      if (!frame.function.starts_with('[') && known.insert(frame.function).second)
        functions.insert(without_clone(frame.function));
  }
  return functions;
}

namespace {

/// What g++ and clang append to a function that they specialised, split or moved.
constexpr std::array kCloneSuffixes = {".constprop.", ".isra.",      ".part.", ".cold",
                                       ".lto_priv.",  ".localalias", ".llvm."};

std::string without_version(std::string file) {
  const std::size_t version = file.find(".so.");
  if (version != std::string::npos) file.resize(version + 3);
  return file;
}

std::uint32_t nameless(const Profile& profile, const ProfileLocation& location,
                       FunctionNames& names) {
  if (location.kind == ProfileLocation::Kind::lost) return names.number_of("[lost]");
  if (!location.module) return names.number_of("[unknown]");
  if (names.nameless() == Nameless::offset) {
    const ProfileModule& module = profile.modules[*location.module];
    return names.number_of(describe(profile, location),
                           module.build_id.empty() ? module.path : module.build_id);
  }
  const std::string library = library_of(profile, location);
  return names.number_of("[" + (library.empty() ? "program" : library) + "]");
}

/// No name has a NUL.
std::string key_of(const std::string& name, const std::string& build) {
  return build.empty() ? name : name + '\0' + build;
}

std::string shown_name(const FrameName& frame, ProfileLocation::Kind kind) {
  // Readers of other tools' profiles have named such frames for the file that the tool names.
  if (frame.function.starts_with('[') && frame.function.ends_with(']'))
    return "[" + without_version(frame.function.substr(1, frame.function.size() - 2)) + "]";
  if (kind != ProfileLocation::Kind::python) return without_clone(frame.function);
  return fmt::format("{} ({})", frame.function,
                     std::filesystem::path(frame.file).filename().string());
}

/// By the name in the profile, of functions that are not Python's: thousands of places lie in
/// hundreds of them.
using KnownNumbers = std::unordered_map<std::string_view, std::uint32_t>;

std::uint32_t number_of(const FrameName& frame, ProfileLocation::Kind kind, FunctionNames& names,
                        KnownNumbers& known) {
  if (kind == ProfileLocation::Kind::python) return names.number_of(shown_name(frame, kind));
  const auto found = known.find(frame.function);
  if (found != known.end()) return found->second;
  return known[frame.function] = names.number_of(shown_name(frame, kind));
}

/// Innermost first.
NamedStack functions_at(const Profile& profile, const ProfileLocation& location,
                        FunctionNames& names, KnownNumbers& known) {
  if (location.names.empty()) return {nameless(profile, location, names)};
  NamedStack functions;
  for (const FrameName& frame : location.names)
    functions.push_back(number_of(frame, location.kind, names, known));
  return functions;
}

}  // namespace

std::string library_of(const Profile& profile, const ProfileLocation& location) {
  if (!location.module) return {};
  const std::string& path = profile.modules[*location.module].path;
  if (profile.fact("program") == path) return {};
  return without_version(std::filesystem::path(path).filename().string());
}

std::uint32_t FunctionNames::number_of(const std::string& name, const std::string& build) {
  const auto other = renamed_.find(name);
  if (other != renamed_.end()) {
    const std::uint32_t number = numbers_.at(key_of(other->second, build));
    taken_.insert(number);
    return number;
  }
  const auto [entry, made] =
      numbers_.try_emplace(key_of(name, build), static_cast<std::uint32_t>(names_.size()));
  if (made) names_.push_back(name);
  return entry->second;
}

bool FunctionNames::is_function(std::uint32_t number) const {
  return !names_[number].starts_with('[');
}

std::string without_clone(const std::string& function) {
  std::string name = function.substr(0, function.find(" [clone "));
  if (name.find('.') == std::string::npos) return name;  // as nearly all
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view suffix : kCloneSuffixes) {
      const std::size_t at = name.rfind(suffix);
      if (at == std::string::npos || at == 0) continue;
      const std::string_view rest = std::string_view(name).substr(at + suffix.size());
      if (rest.find_first_not_of("0123456789.") != std::string_view::npos) continue;
      name.resize(at);
      found = true;
    }
  }
  return name;
}

StackNames::StackNames(const Profile& profile, FunctionNames& names) : profile_(profile) {
  KnownNumbers known;
  of_location_.reserve(profile.locations.size());
  for (const ProfileLocation& location : profile.locations)
    of_location_.push_back(functions_at(profile, location, names, known));
}

NamedStack StackNames::of(std::uint32_t stack, std::size_t depth) const {
  NamedStack functions;
  for (std::uint32_t node = stack; node != 0 && depth > 0; node = profile_.stacks[node].parent) {
    --depth;
    for (const std::uint32_t function : of_location_[profile_.stacks[node].location])
      if (functions.empty() || functions.back() != function) functions.push_back(function);
  }
  std::ranges::reverse(functions);
  return functions;
}

SourceLine StackNames::line_of(std::uint32_t stack, std::uint32_t function) const {
  for (std::uint32_t node = stack; node != 0; node = profile_.stacks[node].parent) {
    const std::uint32_t number = profile_.stacks[node].location;
    const std::vector<FrameName>& frames = profile_.locations[number].names;
    for (std::size_t i = 0; i < frames.size(); ++i)
      if (of_location_[number][i] == function) return {frames[i].file, frames[i].line};
  }
  return {};
}

std::vector<std::uint32_t> StackNames::functions() const {
  std::vector<std::uint32_t> all;
  for (const NamedStack& functions : of_location_)
    all.insert(all.end(), functions.begin(), functions.end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

namespace {

/// A call that one build has inlined hides so many frames; more is another call path.
constexpr std::size_t kMostHiddenFrames = 3;
/// Looking for inlined calls compares every remaining stack with every other; small ones are left.
constexpr std::size_t kMostCompared = 500;

/// Stacks of both sides that look the same without the functions that only one side knows.
struct Leftover {
  MatchedStack matched;
  double largest = -1;   ///< bytes of the stack that gave `matched.stack`
  bool has_own = false;  ///< there were such functions
};

/// Keyed by the stack without those functions.
using Leftovers = std::map<NamedStack, Leftover>;

bool knows(const std::vector<std::uint32_t>& common, std::uint32_t function) {
  return std::ranges::binary_search(common, function);
}

NamedStack known_to_both(const NamedStack& stack, const std::vector<std::uint32_t>& common) {
  NamedStack kept;
  for (const std::uint32_t function : stack) {
    if (knows(common, function) && (kept.empty() || kept.back() != function))
      kept.push_back(function);
  }
  return kept;
}

void add(Leftover& into, const NamedStack& stack, const StackAmount& amount, bool baseline) {
  (baseline ? into.matched.baseline : into.matched.candidate) += amount;
  (baseline ? into.matched.in_baseline : into.matched.in_candidate) = true;
  if (baseline) into.matched.of_baseline.push_back(stack);
  if (amount.total.bytes <= into.largest) return;
  into.largest = amount.total.bytes;
  into.matched.stack = stack;
}

bool is_within(const NamedStack& shorter, const NamedStack& longer) {
  auto at = shorter.begin();
  for (const std::uint32_t function : longer)
    if (at != shorter.end() && *at == function) ++at;
  return at == shorter.end();
}

/// How many frames one has more than the other, where it is the other with frames in between.
std::optional<std::size_t> hidden_frames(const NamedStack& a, const NamedStack& b) {
  const NamedStack& shorter = a.size() < b.size() ? a : b;
  const NamedStack& longer = a.size() < b.size() ? b : a;
  const std::size_t hidden = longer.size() - shorter.size();
  const bool possible = hidden <= kMostHiddenFrames && hidden <= shorter.size();
  return possible && is_within(shorter, longer) ? std::optional(hidden) : std::nullopt;
}

bool only_in_baseline(const MatchedStack& stack) {
  return stack.in_baseline && !stack.in_candidate;
}

bool only_in_candidate(const MatchedStack& stack) {
  return stack.in_candidate && !stack.in_baseline;
}

double bytes_of(const MatchedStack& stack) {
  return stack.baseline.total.bytes + stack.candidate.total.bytes;
}

/// The largest stacks of one side alone, largest first.
template <class Belongs>
std::vector<Leftovers::iterator> alone(Leftovers& leftovers, Belongs belongs) {
  std::vector<Leftovers::iterator> found;
  for (auto at = leftovers.begin(); at != leftovers.end(); ++at)
    if (belongs(at->second.matched)) found.push_back(at);
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) {
    return bytes_of(a->second.matched) > bytes_of(b->second.matched);
  });
  if (found.size() > kMostCompared) found.resize(kMostCompared);
  return found;
}

void unite(Leftover& into, Leftover& from) {
  const bool longer = from.matched.stack.size() > into.matched.stack.size();
  if (longer) into.matched.stack = from.matched.stack;
  into.matched.baseline += from.matched.baseline;
  into.matched.candidate += from.matched.candidate;
  into.matched.in_baseline = into.matched.in_candidate = true;
  into.matched.of_baseline.insert(into.matched.of_baseline.end(), from.matched.of_baseline.begin(),
                                  from.matched.of_baseline.end());
}

/// Joins pairs that differ by inlined calls, the largest first, each with the one that differs
/// least.
void join_inlined(Leftovers& leftovers) {
  const auto of_candidate = alone(leftovers, only_in_candidate);
  for (const auto& mine : alone(leftovers, only_in_baseline)) {
    std::optional<std::size_t> least;
    Leftovers::iterator best;
    for (const auto& other : of_candidate) {
      if (!only_in_candidate(other->second.matched)) continue;  // joined already
      // A function of its own stands where the other's frames would be hidden: another call.
      const auto& shorter = mine->first.size() < other->first.size() ? mine : other;
      if (shorter->second.has_own) continue;
      const auto hidden = hidden_frames(mine->first, other->first);
      if (!hidden || (least && *hidden >= *least)) continue;
      least = hidden;
      best = other;
    }
    if (!least) continue;
    unite(best->second, mine->second);
    leftovers.erase(mine);
  }
}

}  // namespace

StackAmount& StackAmount::operator+=(const StackAmount& other) {
  total += other.total;
  for (const auto& [phase, amount] : other.by_phase) by_phase[phase] += amount;
  sources.insert(sources.end(), other.sources.begin(), other.sources.end());
  return *this;
}

std::vector<MatchedStack> match_stacks(const NamedSide& baseline, const NamedSide& candidate) {
  std::vector<std::uint32_t> common;
  std::set_intersection(baseline.functions.begin(), baseline.functions.end(),
                        candidate.functions.begin(), candidate.functions.end(),
                        std::back_inserter(common));
  std::vector<MatchedStack> matched;
  Leftovers leftovers;
  const auto leave = [&](const NamedStack& stack, const StackAmount& amount, bool of_baseline) {
    const NamedStack key = known_to_both(stack, common);
    Leftover alone;  // nothing in it is known to the other side
    Leftover& into = key.empty() ? alone : leftovers[key];
    into.has_own = into.has_own || !std::ranges::all_of(stack, [&](auto function) {
                     return knows(common, function);
                   });
    add(into, stack, amount, of_baseline);
    if (key.empty()) matched.push_back(std::move(alone.matched));
  };
  for (const auto& [stack, amount] : baseline.amounts) {
    const auto other = candidate.amounts.find(stack);
    if (other == candidate.amounts.end())
      leave(stack, amount, true);
    else
      matched.push_back({stack, amount, other->second, true, true, false, {stack}});
  }
  for (const auto& [stack, amount] : candidate.amounts)
    if (!baseline.amounts.contains(stack)) leave(stack, amount, false);
  join_inlined(leftovers);
  for (auto& [key, leftover] : leftovers) {
    leftover.matched.guessed = leftover.matched.in_baseline && leftover.matched.in_candidate;
    matched.push_back(std::move(leftover.matched));
  }
  return matched;
}

}  // namespace memduel
