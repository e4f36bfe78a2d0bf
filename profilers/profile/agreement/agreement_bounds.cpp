#include "profilers/profile/agreement/agreement_bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <span>
#include <string_view>

#include "profilers/profile/questions/named_side.h"

namespace memduel {
namespace {

/// The file that a place lies in, as far as it is known: "libc.so.6".
std::string file_of(const Profile& profile, const ProfileLocation& location) {
  if (location.module)
    return std::filesystem::path(profile.modules[*location.module].path).filename().string();
  if (location.names.empty() || !location.names[0].function.starts_with('[')) return {};
  return location.names[0].function.substr(1);
}

bool begins_with_any(const std::string& text, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](std::string_view one) { return text.starts_with(one); });
}

/// Of every process, and so nobody's in particular.
constexpr std::array<std::string_view, 2> kEverywhere = {"ld-linux", "libc.so"};
/// Whose functions stand at the end of stacks, whoever asked for the block.
constexpr std::array<std::string_view, 3> kAllocators = {"libjemalloc", "libtcmalloc",
                                                         "libheaptrack"};

/// The tools' own, and what these need (ldd).
constexpr std::array<std::string_view, 9> kToolsLibraries = {
    "libheaptrack", "libjemalloc", "libtcmalloc", "libmemduel_dump", "libunwind",
    "libstdc++.so", "libgcc_s.so", "liblzma.so",  "libm.so"};
constexpr std::array<std::string_view, 3> kBringing = {"heaptrack", "gperftools", "jemalloc"};

bool is_of_tools_libraries(const Profile& profile, std::uint32_t stack) {
  bool in_allocator = true;
  bool of_tools = false;
  for (std::uint32_t node = stack; node != 0; node = profile.stacks[node].parent) {
    const std::string file = file_of(profile, profile.locations[profile.stacks[node].location]);
    in_allocator = in_allocator && begins_with_any(file, kAllocators);
    if (in_allocator || begins_with_any(file, kEverywhere)) continue;
    if (!begins_with_any(file, kToolsLibraries)) return false;
    of_tools = true;
  }
  return of_tools;
}

double freed_of(double live_at_stop, double allocated, double live) {
  return std::clamp(live_at_stop - live, 0.0, std::max(0.0, allocated - live));
}

bool begins_in_loader(const NamedStack& stack, const FunctionNames& names) {
  if (stack.empty()) return false;
  const std::string& outermost = names.name(stack.front());
  return outermost.starts_with("[ld-linux") || outermost.starts_with("_dl_");
}

/// The same in all stacks but those of constructors, each for itself.
double freed_in_stacks(const TracerSide& stopped, const TracerSide& late) {
  FunctionNames names(Nameless::library);
  const std::size_t depth = stopped.facts.most_frames.value_or(kWholeStack);
  const NamedSide live = named_side(late.trials, DifferenceKind::live, Heap::malloc, names, depth);
  const std::vector<MatchedStack> matched =
      match_stacks(named_side(late.trials, DifferenceKind::allocated, Heap::malloc, names, depth),
                   named_side(stopped.trials, DifferenceKind::live, Heap::malloc, names,
                              late.facts.most_frames.value_or(kWholeStack)));
  double freed = 0;
  for (const MatchedStack& row : matched) {
    if (!row.in_baseline || !row.in_candidate || begins_in_loader(row.stack, names)) continue;
    double still_live = 0;
    for (const NamedStack& stack : row.of_baseline)
      if (const auto at = live.amounts.find(stack); at != live.amounts.end())
        still_live += at->second.total.bytes;
    freed += freed_of(row.candidate.total.bytes, row.baseline.total.bytes, still_live);
  }
  return freed;
}

}  // namespace

bool is_while_loading(const Profile& profile, std::uint32_t stack) {
  if (stack == 0) return false;
  std::uint32_t outermost = stack;
  while (profile.stacks[outermost].parent != 0) outermost = profile.stacks[outermost].parent;
  const ProfileLocation& location = profile.locations[profile.stacks[outermost].location];
  return file_of(profile, location).starts_with("ld-linux") ||
         (!location.names.empty() && location.names.back().function.starts_with("_dl_"));
}

/// Whether the function that asked for the block is libc's or libstdc++'s own.
bool is_in_pool(const Profile& profile, std::uint32_t stack) {
  for (std::uint32_t node = stack; node != 0; node = profile.stacks[node].parent) {
    const ProfileLocation& location = profile.locations[profile.stacks[node].location];
    const std::string name = location.names.empty() ? "" : location.names[0].function;
    if (name.starts_with("operator new") || name.starts_with("[libjemalloc")) continue;
    const std::string file = file_of(profile, location);
    return file.starts_with("libc.so") || file.starts_with("libstdc++.so");
  }
  return false;
}

/// Mean over the trials of the bytes of the stacks for which `belongs`.
Estimate amount_where(const TracerSide& side, DifferenceKind kind,
                      const std::function<bool(const Profile&, std::uint32_t)>& belongs) {
  Estimate amount;
  const auto trials = static_cast<double>(side.trials.size());
  for (const std::vector<Profile>& trial : side.trials)
    for (const Profile& profile : trial)
      for (const auto& [site, found] : sites_for(profile, kind, Heap::malloc))
        if (belongs(profile, profile.sites[site].stack))
          amount += {found.bytes / trials, found.count / trials, found.variance / trials / trials,
                     found.samples};
  return amount;
}

double freed_after_stop(const TracerSide& stopped, const TracerSide& late) {
  if (!late.facts.has_allocated) return 0;
  const double in_constructors =
      freed_of(amount_where(stopped, DifferenceKind::live, is_while_loading).bytes,
               amount_where(late, DifferenceKind::allocated, is_while_loading).bytes,
               amount_where(late, DifferenceKind::live, is_while_loading).bytes);
  return in_constructors + freed_in_stacks(stopped, late);
}

double brought_bytes(const TracerSide& side, const TracerSide& other, DifferenceKind kind) {
  if (!begins_with_any(side.facts.tool, kBringing)) return 0;
  const Estimate mine = amount_where(side, kind, is_of_tools_libraries);
  const Estimate theirs = amount_where(other, kind, is_of_tools_libraries);
  const double more = mine.bytes - theirs.bytes;
  return more > k999 * std::sqrt(mine.variance + theirs.variance) ? more : 0;
}

}  // namespace memduel
