#include "profilers/profile/agreement/tracer_agreement.h"

#include <gmock/gmock.h>

#include <sstream>

#include "profilers/profile/model/tracer_facts.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

/// A stack, written "main work make", with what it allocated, all of it live at the peak.
struct Traced {
  std::string stack;
  double bytes = 0;
  double blocks = 1;
  double live = 0;
  double variance = 0;
};

Profile traced_by(const std::string& tool, const std::vector<Traced>& sites) {
  Profile profile;
  if (!tool.empty()) profile.info["tracer"] = tool;
  for (const Traced& one : sites) {
    std::uint32_t parent = 0;
    std::istringstream functions(one.stack);
    for (std::string function; functions >> function;) {
      profile.locations.push_back(
          {ProfileLocation::Kind::native, std::nullopt, 0, {{function, "", 0}}});
      profile.stacks.push_back({parent, static_cast<std::uint32_t>(profile.locations.size() - 1)});
      parent = static_cast<std::uint32_t>(profile.stacks.size() - 1);
    }
    AllocationSite site;
    site.stack = parent;
    site.allocated = {one.bytes, one.blocks, one.variance, 1};
    if (one.live > 0) site.live = {one.live, 1, 0, 1};
    profile.peak.sites.emplace_back(static_cast<std::uint32_t>(profile.sites.size()),
                                    site.allocated);
    profile.peak.total += site.allocated;
    profile.sites.push_back(site);
  }
  return profile;
}

/// Of a sampler, without a peak.
Profile dumped_by(const std::string& tool, const std::vector<Traced>& sites, double interval) {
  Profile profile = traced_by(tool, sites);
  profile.peak = {};
  if (interval <= 0) return profile;
  profile.info["mode"] = "sampled";
  profile.info["interval_bytes"] = std::to_string(static_cast<std::int64_t>(interval));
  return profile;
}

TracerAgreement agreement_of(const Profile& reference, const std::string& tracer,
                             const Profile& other) {
  auto agreement = tracer_agreement({{"recorder", {{reference}}}, {tracer, {{other}}}});
  EXPECT_TRUE(agreement);
  return *agreement;
}

const AgreementAmount& amount_in(const TracerAgreement& agreement, const std::string& kind,
                                 std::size_t tracer = 1) {
  for (const AgreementAmount& amount : agreement.tracers.at(tracer).amounts)
    if (amount.kind == kind) return amount;
  throw std::out_of_range(kind);
}

const std::vector<Traced> kTwo = {{"main load", 900, 9, 100}, {"main parse", 100, 10, 0}};

TEST(TracerAgreement, HasNoDifferenceWhereBothAreTheSameToTheByte) {
  const TracerAgreement agreement =
      agreement_of(traced_by("", kTwo), "heaptrack", traced_by("heaptrack 1.4.0", kTwo));
  for (const char* kind : {"peak", "allocated", "live"}) {
    EXPECT_FALSE(amount_in(agreement, kind, 0).difference_bytes) << "the reference's own";
    EXPECT_EQ(amount_in(agreement, kind).difference_bytes, 0) << kind;
  }
  EXPECT_EQ(agreement.tracers[1].tool, "heaptrack 1.4.0");
  ASSERT_TRUE(agreement.tracers[1].stacks);
  EXPECT_EQ(agreement.tracers[1].stacks->found, 2);
  EXPECT_EQ(agreement.tracers[1].stacks->same, 2);
  ASSERT_THAT(agreement.stacks, SizeIs(2));
  EXPECT_THAT(agreement.stacks[0].stack, ElementsAre("main", "load"));
  EXPECT_EQ(agreement.stacks[0].cells[0].bytes, 900);
}

TEST(TracerAgreement, TakesTheRecorderForItsReferenceWhereverItStands) {
  const auto agreement = tracer_agreement({{"massif", {{traced_by("massif", kTwo)}}},
                                           {"heaptrack", {{traced_by("heaptrack", kTwo)}}},
                                           {"recorder", {{traced_by("", kTwo)}}}});
  ASSERT_TRUE(agreement);
  EXPECT_EQ(agreement->reference, "recorder");
  EXPECT_EQ(agreement->tracers[1].tracer, "massif");
  const auto without = tracer_agreement(
      {{"massif", {{traced_by("massif", kTwo)}}}, {"heaptrack", {{traced_by("heaptrack", kTwo)}}}});
  EXPECT_EQ(without->reference, "massif");
}

TEST(TracerAgreement, NeedsTwoTracersOfTheHeap) {
  Profile time = traced_by("gperftools CPU", kTwo);
  time.unit = ProfileUnit::nanoseconds;
  EXPECT_FALSE(tracer_agreement(
      {{"recorder", {{traced_by("", kTwo)}}}, {"gperftools-cpu", {{time}}}, {"massif", {}}}));
}

TEST(TracerAgreement, CountsTheImageThatAllocatedMost) {
  // A shell and the program that it starts, against the program alone.
  const auto agreement =
      tracer_agreement({{"recorder", {{traced_by("", {{"sh run", 50}}), traced_by("", kTwo)}}},
                        {"heaptrack", {{traced_by("heaptrack 1.4.0", kTwo)}}}});
  ASSERT_TRUE(agreement);
  EXPECT_EQ(agreement->tracers[0].images, 2);
  EXPECT_EQ(amount_in(*agreement, "allocated").difference_bytes, 0);
}

TEST(TracerAgreement, SaysByHowManyBytesTheMeansOfTheTrialsDiffer) {
  std::vector<Traced> more = kTwo;
  more[0].bytes += 60;
  more[0].live = 70;
  const auto agreement =
      tracer_agreement({{"recorder", {{traced_by("", kTwo)}, {traced_by("", more)}}},
                        {"heaptrack", {{traced_by("heaptrack", more)}}}});
  ASSERT_TRUE(agreement);
  EXPECT_EQ(amount_in(*agreement, "peak").bytes, 1060);
  EXPECT_EQ(amount_in(*agreement, "peak").difference_bytes, 30);
  EXPECT_EQ(amount_in(*agreement, "allocated").difference_bytes, 30);
  EXPECT_EQ(amount_in(*agreement, "live").difference_bytes, -15);
  EXPECT_FALSE(amount_in(*agreement, "peak").half_width_bytes) << "it counts every block";
}

TEST(TracerAgreement, LeavesOutWhatATracerDoesNotKnow) {
  const TracerAgreement massif =
      agreement_of(traced_by("", kTwo), "massif", traced_by("massif", kTwo));
  EXPECT_FALSE(amount_in(massif, "allocated").bytes) << "it keeps no record of what was freed";
  EXPECT_FALSE(amount_in(massif, "allocated").difference_bytes);
  const TracerAgreement jemalloc =
      agreement_of(traced_by("", kTwo), "jemalloc", dumped_by("jemalloc", kTwo, 1));
  EXPECT_FALSE(amount_in(jemalloc, "peak").bytes) << "a dump has no peak";
  EXPECT_EQ(amount_in(jemalloc, "allocated").difference_bytes, 0);
}

TEST(TracerAgreement, ASampledAmountHasItsIntervalOf95PerCent) {
  const TracerAgreement agreement =
      agreement_of(traced_by("", kTwo), "gperftools",
                   dumped_by("pprof", {{"main load", 1e6, 1000, 0, 1e8}}, 10000));
  EXPECT_NEAR(*amount_in(agreement, "allocated").half_width_bytes, 1.959964 * 1e4, 0.1);
  EXPECT_EQ(agreement.tracers[1].interval_bytes, 10000);
}

TEST(TracerAgreement, ASampledRecorderStillCountsWhatWasAllocated) {
  Profile recorder = dumped_by("", {{"main load", 5000, 1, 0, 1e6}}, 10000);
  recorder.counters = HeapTotals{};
  recorder.counters->allocated_bytes = 1000;
  recorder.counters->allocations = 19;
  const TracerAgreement agreement =
      agreement_of(recorder, "heaptrack", traced_by("heaptrack 1.4.0", kTwo));
  EXPECT_EQ(amount_in(agreement, "allocated").difference_bytes, 0);
  EXPECT_EQ(agreement.tracers[0].interval_bytes, 10000);
}

TEST(TracerAgreement, CutsStacksToWhatTheOtherTracerKeeps) {
  std::string deep = "main";
  for (int i = 0; i < 60; ++i) deep += " f" + std::to_string(i);
  std::string kept;
  for (int i = 30; i < 60; ++i) kept += " f" + std::to_string(i);
  // Both know the functions that massif has cut off, from other stacks.
  std::vector<Traced> all = {{deep, 900, 9, 0}};
  std::vector<Traced> cut = {{kept, 900, 0, 0}};
  for (int i = 0; i < 30; ++i) {
    all.push_back({"main f" + std::to_string(i), 1, 1, 0});
    cut.push_back({"main f" + std::to_string(i), 1, 0, 0});
  }
  const TracerAgreement agreement =
      agreement_of(traced_by("", all), "massif", traced_by("massif", cut));
  EXPECT_EQ(agreement.tracers[1].stacks->found, 10);
  EXPECT_EQ(agreement.tracers[1].stacks->same, 10);
  EXPECT_THAT(agreement.stacks[0].stack, SizeIs(61)) << "shown whole";
}

TEST(TracerAgreement, SaysWhatIsSpecialAboutATrial) {
  Profile attached = traced_by("heaptrack 1.4.0", kTwo);
  attached.info["attached"] = "to a running program";
  EXPECT_THAT(agreement_of(traced_by("", kTwo), "heaptrack", attached).tracers[1].besides,
              HasSubstr("was attached to the running program and knows nothing from before"));
  Profile dump = dumped_by("gperftools heap", {{"main load", 900, 9, 500}, {"cut", 1, 1, 1}}, 0);
  dump.info["moment"] = "its dump at the end of round 2";
  dump.locations.back().names[0].function = kCutOffFrame;
  EXPECT_EQ(agreement_of(traced_by("", kTwo), "gperftools", dump).tracers[1].besides,
            "tcmalloc in place of the program's own allocator; keeps 32 frames of a stack; starts "
            "after the libraries were loaded; its end is its dump at the end of round 2; its dump "
            "had no room for stacks of 1 B");
}

TEST(TracerAgreement, SaysWhatEachCounts) {
  Profile recorder = traced_by("", kTwo);
  recorder.counters = HeapTotals{};
  recorder.counters->mapping_peak_bytes = 3 << 20;
  Profile pages = traced_by("massif", kTwo);
  pages.info["massif_options"] = "--pages-as-heap=yes";
  const auto agreement = tracer_agreement({{"recorder", {{recorder}}},
                                           {"massif", {{pages}}},
                                           {"jemalloc", {{dumped_by("jemalloc", kTwo, 524288)}}}});
  ASSERT_TRUE(agreement);
  EXPECT_EQ(agreement->tracers[0].counts, "requested bytes of every block");
  EXPECT_EQ(agreement->tracers[0].besides, "counts mappings apart, 3.00 MiB at most");
  EXPECT_EQ(agreement->tracers[0].mapping_peak_bytes, 3 << 20);
  EXPECT_EQ(agreement->tracers[1].counts, "bytes of mapped pages of every mapping");
  EXPECT_EQ(agreement->tracers[1].besides,
            "keeps 30 frames of a stack; has libc and libstdc++ free their pools at exit; its end "
            "is massif's last snapshot; notes a peak only where it exceeds the last by 1 %; puts "
            "stacks below 1 % of all bytes together");
  EXPECT_EQ(agreement->tracers[2].counts, "bytes of size classes, one sample per 512.0 KiB");
  EXPECT_EQ(agreement->tracers[2].besides,
            "jemalloc in place of the program's own allocator; a size class is up to a quarter "
            "and 15 bytes a block more than was asked for; keeps 128 frames of a stack");
}

}  // namespace
}  // namespace memduel
