#include "test_sample_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace memduel {
namespace {

constexpr double kMiBOfProfile = 1024.0 * 1024.0;

class StackMaker {
 public:
  explicit StackMaker(Profile& profile) : profile_(profile) {}

  std::uint32_t location(const std::string& function) {
    const auto number = static_cast<std::uint32_t>(profile_.locations.size());
    profile_.locations.push_back(
        {ProfileLocation::Kind::native,
         std::nullopt,
         number + 1,
         {{function, "/srv/job/src/" + std::to_string(number) + ".cpp", 7}}});
    return number;
  }

  std::uint32_t node(std::uint32_t parent, std::uint32_t location) {
    profile_.stacks.push_back({parent, location});
    return static_cast<std::uint32_t>(profile_.stacks.size() - 1);
  }

  std::uint32_t call(std::uint32_t parent, const std::string& function) {
    return node(parent, location(function));
  }

  /// A site that is live at the peak; its number.
  std::uint32_t site(std::uint32_t stack, double bytes, int round = 0, std::uint32_t phase = 0) {
    AllocationSite made;
    made.stack = stack;
    made.round = round;
    made.phase = phase;
    made.allocated = {2 * bytes, 2, 0, 2};
    made.live = {bytes, 1, 0, bytes > 0 ? 1 : 0};
    profile_.sites.push_back(made);
    const auto number = static_cast<std::uint32_t>(profile_.sites.size() - 1);
    if (bytes > 0) profile_.peak.sites.emplace_back(number, made.live);
    return number;
  }

 private:
  Profile& profile_;
};

void add_retention(Profile& profile, const std::array<std::uint32_t, 3>& born, int side) {
  for (int end = 1; end <= 3; ++end) {
    ProfilePeak peak;
    peak.round = end;
    for (int round = 1; round <= end; ++round) {
      const double bytes = (10 * round + end) * kMiBOfProfile / (side == 0 ? 1 : 2);
      const Estimate amount{bytes, 1, 0, 1};
      profile.retention.push_back({round, end, amount, {{born.at(round - 1), amount}}});
      peak.sites.emplace_back(born.at(round - 1), amount);
      peak.total += amount;
    }
    profile.round_peaks.push_back(peak);
  }
}

struct Names {
  std::string main = "main";
  std::string serve = "serve()";
  std::string aggregate = "aggregate(State&)";
  std::string clone = "clone(State)";
  std::string stage = "stage(Path const&)";
};

Names hostile_names() {
  return {"<img src=x onerror=window.hacked=1>", "serve\"'><script>window.hacked=1</script>",
          std::string("\xE2\x80\xAE") + "etagerga\xE2\x81\xA6 (&State)",
          "clone<" + std::string(10 * 1024, 'T') + ">(State)",
          "stage\xFF\xFE(Path const&) --> ]]>"};
}

Profile plain_profile(const Names& names, int side) {
  Profile profile;
  profile.info = {{"command", "job --rounds 3"}, {"mode", "exact"}, {"amounts", "requested bytes"}};
  profile.phases = {"", "aggregate"};
  StackMaker make(profile);
  const std::uint32_t main = make.call(0, names.main);
  const std::uint32_t serve = make.call(main, names.serve);
  const std::uint32_t clone = make.call(make.call(serve, names.aggregate), names.clone);
  const std::uint32_t leaf = make.call(
      make.call(clone, "std::vector<float>::vector(unsigned long)"), "operator new(unsigned long)");
  std::array<std::uint32_t, 3> born{};
  for (int round = 1; round <= 3; ++round)
    born.at(round - 1) = make.site(
        leaf, (side == 0 ? 400 : 200) * kMiBOfProfile / 4 * (round == 3 ? 2 : 1), round, 1);
  make.site(make.call(main, "load()"), 30 * kMiBOfProfile);
  if (side == 0) make.site(make.call(serve, "old_log()"), 10 * kMiBOfProfile);
  if (side == 1) make.site(make.call(serve, "new_log()"), 10 * kMiBOfProfile);
  if (side == 1) make.site(make.call(serve, names.stage), 20 * kMiBOfProfile);
  add_retention(profile, born, side);
  return profile;
}

Profile one_sample() {
  Profile profile;
  profile.info = {{"mode", "exact"}};
  StackMaker make(profile);
  make.site(make.call(0, "main"), 64);
  return profile;
}

/// Knuth's MMIX generator: the same everywhere.
class Dice {
 public:
  std::uint64_t below(std::uint64_t n) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state_ >> 33) % n;
  }

 private:
  std::uint64_t state_ = 9;
};

/// Each stack leaves an earlier one at some height and goes seven calls deeper on its own, as far
/// down as a depth between 8 and 99 that it draws.
Profile large_profile(int side) {
  constexpr std::uint64_t kStacks = 500'000;
  constexpr std::uint64_t kFunctions = 20'001;
  constexpr std::uint64_t kCallees = 8;
  Profile profile;
  profile.info = {{"mode", "exact"}};
  StackMaker make(profile);
  for (std::uint64_t i = 0; i < kFunctions; ++i)
    make.location(fmt::format(
        "library_{}::module_{}::Class<float, {}>::function_number_{}(Tensor const&, int)", i % 7,
        i % 131, i % 3, i));
  std::vector<std::uint32_t> depth = {0};
  std::vector<std::uint32_t> ends = {0};
  Dice dice;
  for (std::uint64_t i = 0; i < kStacks; ++i) {
    std::uint32_t at = ends[dice.below(ends.size())];
    const std::uint64_t wanted = 8 + dice.below(92);
    while (depth[at] > wanted) at = profile.stacks[at].parent;
    for (int level = 0; level < 7; ++level) {
      const std::uint64_t caller = at == 0 ? 0 : profile.stacks[at].location;
      const auto callee =
          static_cast<std::uint32_t>((caller * 31 + dice.below(kCallees) * 977 + 1) % kFunctions);
      at = make.node(at, callee);
      depth.push_back(depth[profile.stacks[at].parent] + 1);
    }
    ends.push_back(at);
    const double bytes = static_cast<double>(1 + dice.below(65536));
    const bool changes = i % 3 == 0;
    make.site(at, side == 1 && i % 10 == 0 ? 0 : side == 1 && changes ? bytes / 2 : bytes);
  }
  return profile;
}

}  // namespace

Profile sample_profile(const std::string& kind, int side) {
  if (kind == "large") return large_profile(side);
  if (kind == "one") return one_sample();
  return plain_profile(kind == "hostile" ? hostile_names() : Names{}, side);
}

}  // namespace memduel
