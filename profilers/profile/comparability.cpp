#include "profilers/profile/model/tracer_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/text.h"

namespace memduel {
namespace {

std::string fact_in(const Profile& profile, const char* key) {
  const auto found = profile.info.find(key);
  return found == profile.info.end() ? std::string() : found->second;
}

/// The number that a fact begins with; absent if there is none.
std::optional<double> number_in(const std::string& fact) {
  char* end = nullptr;
  const double value = std::strtod(fact.c_str(), &end);
  return end == fact.c_str() || !std::isfinite(value) ? std::nullopt : std::optional(value);
}

/// Of the recorder and heaptrack, which record every allocation and free, or samples of both.
void add_every_kind(TracerFacts& facts, const Profile& /*profile*/) {
  facts.has_peak = facts.has_allocated = facts.has_live = true;
}

bool any_allocated(const Profile& profile) {
  return std::ranges::any_of(profile.sites,
                             [](const AllocationSite& site) { return site.allocated.samples > 0; });
}

void add_gperftools(TracerFacts& facts, const Profile& profile) {
  facts.has_live = true;
  // GetHeapSample knows what is live and says it a second time as allocated.
  facts.has_allocated = !profile.sampled();
}

// Size classes: jemalloc(3), "Implementation notes".
void add_jemalloc(TracerFacts& facts, const Profile& profile) {
  facts.counted = CountedBytes::size_classes;
  facts.has_live = true;
  facts.has_allocated = any_allocated(profile);  // only with prof_accum
}

void add_other(TracerFacts& facts, const Profile& profile) {
  facts.known_tool = false;
  facts.has_peak = profile.peak.total.samples > 0;
  facts.has_allocated = any_allocated(profile);
  facts.has_live = std::ranges::any_of(
      profile.sites, [](const AllocationSite& site) { return site.live.samples > 0; });
}

struct KnownTool {
  std::string_view tracer;  ///< how info's tracer begins
  std::string_view tool;
  void (*add)(TracerFacts&, const Profile&);
};

constexpr std::array kTools = {
    KnownTool{"heaptrack", "heaptrack", add_every_kind},
    KnownTool{"gperftools heap", "gperftools", add_gperftools},
    KnownTool{"jemalloc", "jemalloc", add_jemalloc},
};

}  // namespace

TracerFacts facts_of(const Profile& profile) {
  TracerFacts facts;
  const std::string tracer = fact_in(profile, "tracer");
  // "memray (gprof2dot)" and "memray (stats)" are memray's, whichever of its formats.
  facts.tool = tracer.empty() ? "memduel" : tracer.substr(0, tracer.find_first_of(" @"));
  // jemalloc calls it one sample per byte when it records every block.
  const auto interval = number_in(fact_in(profile, "interval_bytes"));
  if (profile.sampled() && interval && *interval > 1) facts.interval_bytes = interval;
  facts.denser_at_first = !fact_in(profile, "first_interval_bytes").empty();
  const auto* const tool = std::ranges::find_if(
      kTools, [&](const KnownTool& one) { return tracer.starts_with(one.tracer); });
  if (tracer.empty()) {
    add_every_kind(facts, profile);
  } else if (tool == kTools.end()) {
    add_other(facts, profile);
  } else {
    facts.tool = tool->tool;
    tool->add(facts, profile);
  }
  return facts;
}

std::string counting_of(const TracerFacts& facts) {
  const char* bytes =
      facts.counted == CountedBytes::requested ? "requested bytes" : kBytesOfClasses;
  if (facts.interval_bytes)
    return fmt::format("{}, one sample per {}{}", bytes, format_bytes(*facts.interval_bytes),
                       facts.denser_at_first ? ", the first ones denser" : "");
  return fmt::format("{} of every block", bytes);
}

}  // namespace memduel
