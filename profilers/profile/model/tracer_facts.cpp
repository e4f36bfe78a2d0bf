#include "profilers/profile/model/tracer_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/text.h"

namespace memduel {
namespace {

std::string fact_in(const Profile& profile, const char* key) {
  const auto found = profile.info.find(key);
  return found == profile.info.end() ? std::string() : found->second;
}

/// The number behind `option` in a command's words, "--depth=30"; absent when it is not among them.
std::optional<double> option_in(const std::string& words, std::string_view option) {
  const std::size_t at = words.find(option);
  if (at == std::string::npos) return std::nullopt;
  const char* begin = words.c_str() + at + option.size();
  char* end = nullptr;
  const double value = std::strtod(begin, &end);
  return end == begin || !std::isfinite(value) ? std::nullopt : std::optional(value);
}

void add_recorder(TracerFacts& facts, const Profile& profile) {
  facts.has_peak = facts.has_allocated = facts.has_live = true;
  facts.lost =
      (profile.counters && profile.counters->lost > 0) || !fact_in(profile, "loss").empty();
}

// src/track/trace.h: 64 frames; src/track/libheaptrack.cpp: __libc_freeres and
// __gnu_cxx::__freeres at exit, in its own library's turn, which is before the program's
// libraries'.
void add_heaptrack(TracerFacts& facts, const Profile& profile) {
  facts.has_peak = facts.has_allocated = facts.has_live = true;
  facts.most_frames = 64;
  facts.frees_pools = true;
  facts.stops_before_destructors = true;
  facts.attached = profile.info.contains("attached");
}

bool any_allocated(const Profile& profile) {
  return std::ranges::any_of(profile.sites,
                             [](const AllocationSite& site) { return site.allocated.samples > 0; });
}

// src/heap-profile-stats.h: 32 frames. The profiler starts in the constructor of its own library.
void add_gperftools(TracerFacts& facts, const Profile& profile) {
  facts.allocator = "tcmalloc";
  facts.has_live = true;
  // GetHeapSample knows what is live and says it a second time as allocated.
  facts.has_allocated = !profile.sampled();
  facts.most_frames = 32;
  facts.sees_loading = profile.sampled();
  for (const AllocationSite& site : profile.sites) {
    const std::uint32_t location = profile.stacks[site.stack].location;
    if (site.stack == 0 || profile.locations[location].names.empty()) continue;
    if (profile.locations[location].names[0].function != kCutOffFrame) continue;
    facts.cut_off_live += site.live.bytes;
  }
}

// Size classes: jemalloc(3), "Implementation notes". PROF_BT_MAX is 128 frames.
void add_jemalloc(TracerFacts& facts, const Profile& profile) {
  facts.allocator = "jemalloc";
  facts.counted = CountedBytes::size_classes;
  facts.has_live = true;
  facts.has_allocated = any_allocated(profile);  // only with prof_accum
  facts.most_frames = 128;
}

// The defaults are those of the manual (Massif, "Massif Command-line Options").
void add_massif(TracerFacts& facts, const Profile& profile) {
  const std::string options = fact_in(profile, "massif_options");
  if (options.find("--pages-as-heap=yes") != std::string::npos) facts.counted = CountedBytes::pages;
  facts.allocator = facts.counted == CountedBytes::pages ? "" : "valgrind's allocator";
  facts.has_peak = true;
  if (!profile.moments.empty()) {
    const ProfileMoment& last = profile.moments.back();
    facts.has_live = !last.sites.empty() || last.bytes <= 0;
    if (!facts.has_live) facts.live_bytes = last.bytes;
  }
  facts.counts_blocks = false;
  facts.frees_pools = options.find("--run-libc-freeres=no") == std::string::npos;
  facts.apart_from_end = true;
  facts.moment = "massif's last snapshot";
  facts.most_frames =
      static_cast<std::size_t>(std::clamp(option_in(options, "--depth=").value_or(30), 1.0, 200.0));
  facts.threshold = std::clamp(option_in(options, "--threshold=").value_or(1), 0.0, 100.0) / 100;
  facts.peak_inaccuracy =
      std::clamp(option_in(options, "--peak-inaccuracy=").value_or(1), 0.0, 100.0) / 100;
  facts.peak_marked = !profile.info.contains("peak_unmarked");
}

void add_other(TracerFacts& facts, const Profile& profile) {
  facts.known_tool = false;
  facts.has_peak = profile.peak.total.samples > 0;
  facts.has_allocated = any_allocated(profile);
  facts.has_live = std::ranges::any_of(
      profile.sites, [](const AllocationSite& site) { return site.live.samples > 0; });
  facts.counts_blocks = profile.counted;
}

struct KnownTool {
  std::string_view tracer;  ///< how info's tracer begins
  std::string_view tool;
  void (*add)(TracerFacts&, const Profile&);
};

constexpr std::array kTools = {
    KnownTool{"heaptrack", "heaptrack", add_heaptrack},
    KnownTool{"gperftools heap", "gperftools", add_gperftools},
    KnownTool{"jemalloc", "jemalloc", add_jemalloc},
    KnownTool{"massif", "massif", add_massif},
};

}  // namespace

TracerFacts facts_of(const Profile& profile) {
  TracerFacts facts;
  const std::string tracer = fact_in(profile, "tracer");
  // "memray (gprof2dot)" and "memray@1.20.0 (speedscope)" are memray's, whichever of its formats.
  facts.tool = tracer.empty() ? "memduel" : tracer.substr(0, tracer.find_first_of(" @"));
  // jemalloc calls it one sample per byte when it records every block.
  const auto interval = option_in(fact_in(profile, "interval_bytes"), "");
  if (profile.sampled() && interval && *interval > 1) facts.interval_bytes = interval;
  facts.denser_at_first = !fact_in(profile, "first_interval_bytes").empty();
  const auto* const tool = std::ranges::find_if(
      kTools, [&](const KnownTool& one) { return tracer.starts_with(one.tracer); });
  if (tracer.empty()) {
    add_recorder(facts, profile);
  } else if (tool == kTools.end()) {
    add_other(facts, profile);
  } else {
    facts.tool = tool->tool;
    tool->add(facts, profile);
  }
  if (const std::string moment = fact_in(profile, "moment"); !moment.empty()) {
    facts.apart_from_end = true;
    facts.moment = moment;
  }
  return facts;
}

std::string counting_of(const TracerFacts& facts) {
  const char* bytes = facts.counted == CountedBytes::requested      ? "requested bytes"
                      : facts.counted == CountedBytes::size_classes ? kBytesOfClasses
                                                                    : kBytesOfPages;
  if (facts.interval_bytes)
    return fmt::format("{}, one sample per {}{}", bytes, format_bytes(*facts.interval_bytes),
                       facts.denser_at_first ? ", the first ones denser" : "");
  return fmt::format("{} of every {}", bytes,
                     facts.counted == CountedBytes::pages ? "mapping" : "block");
}

std::vector<std::string> traits_of(const TracerFacts& facts) {
  std::vector<std::string> traits;
  const auto add = [&](bool applies, std::string text) {
    if (applies) traits.push_back(std::move(text));
  };
  add(!facts.allocator.empty(), facts.allocator + " in place of the program's own allocator");
  add(facts.counted == CountedBytes::size_classes,
      "a size class is up to a quarter and 15 bytes a block more than was asked for");
  add(facts.most_frames.has_value(),
      fmt::format("keeps {} frames of a stack", facts.most_frames.value_or(0)));
  add(!facts.sees_loading, "starts after the libraries were loaded");
  add(facts.frees_pools, "has libc and libstdc++ free their pools at exit");
  add(facts.stops_before_destructors, "stops before libraries run their destructors");
  add(facts.attached, "was attached to the running program and knows nothing from before");
  add(facts.apart_from_end, fmt::format("its end is {}", facts.moment));
  add(facts.lost, "lost events");
  add(facts.peak_marked && facts.peak_inaccuracy > 0,
      fmt::format("notes a peak only where it exceeds the last by {:g} %",
                  100 * facts.peak_inaccuracy));
  add(!facts.peak_marked, "marks a peak only where memory falls");
  add(facts.threshold > 0,
      fmt::format("puts stacks below {:g} % of all bytes together", 100 * facts.threshold));
  add(facts.cut_off_live > 0,
      fmt::format("its dump had no room for stacks of {}", format_bytes(facts.cut_off_live)));
  return traits;
}

}  // namespace memduel
