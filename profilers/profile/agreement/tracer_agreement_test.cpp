#include "profilers/profile/agreement/tracer_agreement.h"

#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

#include "profilers/profile/agreement/agreement_reasons.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
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

std::vector<std::string> codes(const std::vector<AgreementReason>& reasons) {
  std::vector<std::string> found;
  for (const AgreementReason& reason : reasons) found.push_back(reason.code);
  return found;
}

const std::vector<Traced> kTwo = {{"main load", 900, 9, 100}, {"main parse", 100, 10, 0}};

TEST(TracerAgreement, IsTheSameToTheByteWithoutAReason) {
  const TracerAgreement agreement =
      agreement_of(traced_by("", kTwo), "heaptrack", traced_by("heaptrack 1.4.0", kTwo));
  for (const char* kind : {"peak", "allocated", "live"}) {
    EXPECT_EQ(amount_in(agreement, kind, 0).outcome, AgreementOutcome::reference);
    EXPECT_EQ(amount_in(agreement, kind).outcome, AgreementOutcome::same) << kind;
    EXPECT_THAT(amount_in(agreement, kind).reasons, IsEmpty());
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
  EXPECT_EQ(amount_in(*agreement, "allocated").outcome, AgreementOutcome::same);
}

TEST(TracerAgreement, CallsADifferenceThatNothingExplainsUnexplained) {
  std::vector<Traced> more = kTwo;
  more[0].bytes += 7;
  EXPECT_EQ(amount_in(agreement_of(traced_by("", kTwo), "heaptrack", traced_by("heaptrack", more)),
                      "peak")
                .outcome,
            AgreementOutcome::unexplained);
  more[0].bytes -= 3;  // 4 of 1000
  const TracerAgreement close =
      agreement_of(traced_by("", kTwo), "heaptrack", traced_by("heaptrack", more));
  EXPECT_EQ(amount_in(close, "peak").outcome, AgreementOutcome::close);
}

TEST(TracerAgreement, MassifMayMissThePeakByOnePerCent) {
  Profile massif = traced_by("massif", {{"main load", 891, 0}, {"main parse", 100, 0}});
  const TracerAgreement agreement = agreement_of(traced_by("", kTwo), "massif", massif);
  const AgreementAmount& peak = amount_in(agreement, "peak");
  EXPECT_EQ(peak.outcome, AgreementOutcome::explained);
  ASSERT_THAT(peak.reasons, SizeIs(1));
  EXPECT_EQ(peak.reasons[0].code, "peak_within");
  EXPECT_EQ(peak.reasons[0].low_bytes, -10);  // 1 % of 1000
  EXPECT_EQ(peak.reasons[0].high_bytes, 0);
  massif.info["massif_options"] = "--peak-inaccuracy=0.0 --depth=5";
  EXPECT_EQ(amount_in(agreement_of(traced_by("", kTwo), "massif", massif), "peak").outcome,
            AgreementOutcome::unexplained);
  const AgreementAmount& allocated = amount_in(agreement, "allocated");
  EXPECT_EQ(allocated.outcome, AgreementOutcome::unknown);
  EXPECT_FALSE(allocated.bytes);
  EXPECT_THAT(codes(allocated.reasons), ElementsAre("no_allocated"));
}

TEST(TracerAgreement, SizeClassesAreUpToAQuarterAndFifteenBytesABlockMore) {
  // 0.25 * 1000 + 15 * 19 = 535
  const auto with = [](double bytes) {
    return agreement_of(traced_by("", kTwo), "jemalloc",
                        dumped_by("jemalloc", {{"main load", bytes, 9}}, 1));
  };
  EXPECT_EQ(with(1535).tracers[1].counts, "bytes of size classes of every block");
  const AgreementAmount most = amount_in(with(1535), "allocated");
  EXPECT_EQ(most.outcome, AgreementOutcome::explained);
  EXPECT_EQ(amount_in(with(1545), "allocated").outcome, AgreementOutcome::unexplained);
  EXPECT_EQ(amount_in(with(990), "allocated").outcome, AgreementOutcome::unexplained)
      << "a size class is never smaller";
  EXPECT_THAT(codes(amount_in(with(1535), "peak").reasons), ElementsAre("no_peak"));
}

TEST(TracerAgreement, SamplesAreHeldToTheirIntervalAndToTheReferencesBlocks) {
  const std::vector<Traced> many = {{"main make", 1e6, 1000}};
  // Blocks of 1000 bytes, one sample per 10000: the sum's variance is n Z^2 (1 - p) / p.
  const double deviation = std::sqrt(1000 * 1e6 / std::expm1(0.1));
  const auto sampled = [&](double off) {
    return amount_in(
        agreement_of(
            traced_by("", many), "gperftools",
            dumped_by("pprof", {{"main make", 1e6 + off, 1000, 0, deviation * deviation}}, 10000)),
        "allocated");
  };
  EXPECT_EQ(sampled(1.9 * deviation).outcome, AgreementOutcome::explained);
  EXPECT_THAT(sampled(1.9 * deviation).reasons.at(0).text, HasSubstr("is inside that interval"));
  EXPECT_THAT(sampled(2.1 * deviation).reasons.at(0).text, HasSubstr("is outside that interval"));
  EXPECT_EQ(sampled(3.2 * deviation).outcome, AgreementOutcome::explained);
  EXPECT_EQ(sampled(3.5 * deviation + 5000).outcome, AgreementOutcome::unexplained);
  EXPECT_NEAR(*sampled(-1).half_width_bytes, 1.959964 * deviation, 1e-3);
  // One sample says little of its own deviation; the reference's blocks say more.
  const AgreementAmount lone = amount_in(
      agreement_of(traced_by("", many), "jemalloc",
                   dumped_by("pprof", {{"main make", 1e6 - 3 * deviation, 1, 0, 1}}, 10000)),
      "allocated");
  EXPECT_EQ(lone.outcome, AgreementOutcome::explained);
}

TEST(TracerAgreement, ASampledRecorderStillCountsWhatWasAllocated) {
  Profile recorder = dumped_by("", {{"main load", 5000, 1, 0, 1e6}}, 10000);
  recorder.counters = HeapTotals{};
  recorder.counters->allocated_bytes = 1000;
  recorder.counters->allocations = 19;
  const TracerAgreement agreement =
      agreement_of(recorder, "heaptrack", traced_by("heaptrack 1.4.0", kTwo));
  EXPECT_EQ(amount_in(agreement, "allocated").outcome, AgreementOutcome::same);
  EXPECT_EQ(agreement.tracers[0].interval_bytes, 10000);
}

TEST(TracerAgreement, KnowsWhatGperftoolsDoesNotSeeBeforeMain) {
  const std::vector<Traced> all = {{"_dl_init call_init pool", 300, 1, 300},
                                   {"main load", 900, 9, 0}};
  const TracerAgreement agreement =
      agreement_of(traced_by("", all), "gperftools",
                   dumped_by("gperftools heap", {{"main load", 900, 9, 0}}, 0));
  const AgreementAmount& allocated = amount_in(agreement, "allocated");
  EXPECT_EQ(allocated.outcome, AgreementOutcome::explained);
  EXPECT_THAT(codes(allocated.reasons), ElementsAre("before_main"));
  EXPECT_EQ(allocated.reasons[0].low_bytes, -300);
  EXPECT_THAT(codes(agreement.tracers[1].stacks->reasons), ElementsAre("before_main"));
  EXPECT_EQ(agreement.tracers[1].stacks->kind, "allocated");
  EXPECT_EQ(agreement.tracers[1].stacks->found, 1);
}

TEST(TracerAgreement, KnowsWhichToolsHaveLibrariesFreeTheirPools) {
  const std::vector<Traced> all = {{"main [libstdc++.so.6]", 300, 1, 300},
                                   {"main load", 900, 9, 100}};
  std::vector<Traced> freed = all;
  freed[0].live = 0;
  const AgreementAmount live = amount_in(
      agreement_of(traced_by("", all), "heaptrack", traced_by("heaptrack 1.4.0", freed)), "live");
  EXPECT_EQ(live.outcome, AgreementOutcome::explained);
  EXPECT_THAT(codes(live.reasons), ElementsAre("pools_at_exit"));
  freed[1].live = 50;  // the program's own
  EXPECT_EQ(
      amount_in(agreement_of(traced_by("", all), "heaptrack", traced_by("heaptrack 1.4.0", freed)),
                "live")
          .outcome,
      AgreementOutcome::unexplained);
}

TEST(TracerAgreement, KnowsThatHeaptrackStopsBeforeLibrariesFree) {
  // Of the constructor's 300 the reference has 100 live; of load's 900 none, of parse's 100 all.
  const auto live = [](double constructor, double load, double parse) {
    return std::vector<Traced>{{"_dl_init call_init pool", 300, 1, constructor},
                               {"main load", 900, 9, load},
                               {"main parse", 100, 10, parse}};
  };
  const auto found = [&](const std::vector<Traced>& heaptrack) {
    return amount_in(agreement_of(traced_by("", live(100, 0, 100)), "heaptrack",
                                  traced_by("heaptrack 1.4.0", heaptrack)),
                     "live");
  };
  const AgreementAmount all = found(live(300, 900, 100));
  EXPECT_EQ(all.outcome, AgreementOutcome::explained);
  EXPECT_THAT(codes(all.reasons), ElementsAre("freed_after_stop"));
  EXPECT_EQ(all.reasons[0].low_bytes, 0);
  EXPECT_EQ(all.reasons[0].high_bytes, 200 + 900);
  EXPECT_EQ(found(live(100, 0, 150)).outcome, AgreementOutcome::unexplained)
      << "the reference did not see it freed";
  EXPECT_EQ(found(live(300, 2000, 100)).outcome, AgreementOutcome::unexplained)
      << "the reference did not see as much allocated";
  EXPECT_EQ(found(live(50, 0, 100)).outcome, AgreementOutcome::unexplained)
      << "what it does not see freed makes it larger, never smaller";
}

TEST(TracerAgreement, KnowsWhatATracersLibrariesAllocate) {
  const auto with = [](const std::string& stack, double bytes) {
    std::vector<Traced> sites = kTwo;
    if (bytes > 0) sites.push_back({stack, bytes, 1, 0});
    return sites;
  };
  const std::string pool = "[ld-linux-x86-64.so.2] [libstdc++.so.6]";
  const auto heaptrack = [&](const std::vector<Traced>& sites) {
    return traced_by("heaptrack 1.4.0", sites);
  };
  const TracerAgreement brought =
      agreement_of(traced_by("", kTwo), "heaptrack", heaptrack(with(pool, 72704)));
  for (const char* kind : {"peak", "allocated"}) {
    const AgreementAmount& amount = amount_in(brought, kind);
    EXPECT_EQ(amount.outcome, AgreementOutcome::explained);
    EXPECT_THAT(codes(amount.reasons), ElementsAre("brought_by_tracer"));
    EXPECT_EQ(amount.reasons[0].high_bytes, 72704);
  }
  const auto outcome = [&](const Profile& reference, const std::vector<Traced>& sites) {
    return amount_in(agreement_of(reference, "heaptrack", heaptrack(sites)), "allocated").outcome;
  };
  std::vector<Traced> leaking = with(pool, 72704);
  leaking[0].bytes += 72704;
  EXPECT_EQ(outcome(traced_by("", with(pool, 72704)), leaking), AgreementOutcome::unexplained)
      << "the program's own libstdc++ has its pool in both";
  EXPECT_EQ(outcome(traced_by("", kTwo), with("main [libstdc++.so.6]", 72704)),
            AgreementOutcome::unexplained)
      << "the program asked for it";
}

TEST(TracerAgreement, ABoundFromSamplesHasTheirInterval) {
  // 10 samples of 10000 stand for 100000 +- 31623; the constructors allocated 150000.
  Profile recorder = dumped_by(
      "", {{"_dl_init call_init pool", 100000, 10, 0, 1e9}, {"main load", 50000, 5, 0, 0}}, 10000);
  recorder.counters = HeapTotals{};
  recorder.counters->allocated_bytes = 200000;
  recorder.counters->allocations = 20;
  const auto outcome = [&](double seen) {
    return amount_in(agreement_of(recorder, "gperftools",
                                  dumped_by("gperftools heap", {{"main load", seen, 5, 0}}, 0)),
                     "allocated")
        .outcome;
  };
  EXPECT_EQ(outcome(50000), AgreementOutcome::explained);
  // 100000 + 3.290527 * 31623 + 0.5 % of 500000 = 206556
  recorder.counters->allocated_bytes = 500000;
  EXPECT_EQ(outcome(500000 - 206000), AgreementOutcome::explained);
  EXPECT_EQ(outcome(500000 - 207000), AgreementOutcome::unexplained);
}

TEST(TracerAgreement, WhatHasNoBoundIsOnlyPossible) {
  Profile attached = traced_by("heaptrack 1.4.0", {{"main load", 100, 1, 0}});
  attached.info["attached"] = "to a running program";
  const TracerAgreement agreement = agreement_of(traced_by("", kTwo), "heaptrack", attached);
  EXPECT_EQ(amount_in(agreement, "peak").outcome, AgreementOutcome::possible);
  attached.sites[0].allocated.bytes = 2000;
  EXPECT_EQ(
      amount_in(agreement_of(traced_by("", kTwo), "heaptrack", attached), "allocated").outcome,
      AgreementOutcome::unexplained)
      << "what it does not know makes it smaller, never larger";
}

TEST(TracerAgreement, ADumpAtTheEndOfARoundIsNotTheEnd) {
  Profile dump = dumped_by("gperftools heap", {{"main load", 900, 9, 500}}, 0);
  dump.info["moment"] = "its dump at the end of round 2";
  const TracerAgreement agreement = agreement_of(traced_by("", kTwo), "gperftools", dump);
  const AgreementAmount& live = amount_in(agreement, "live");
  EXPECT_EQ(live.outcome, AgreementOutcome::possible);
  EXPECT_THAT(live.reasons[0].text, HasSubstr("its dump at the end of round 2, not the end"));
}

TEST(TracerAgreement, TrialsThatDifferAmongThemselvesAreAReason) {
  std::vector<Traced> more = kTwo;
  more[0].bytes += 60;
  const auto agreement =
      tracer_agreement({{"recorder", {{traced_by("", kTwo)}, {traced_by("", more)}}},
                        {"heaptrack", {{traced_by("heaptrack", more)}}}});
  const AgreementAmount& peak = amount_in(*agreement, "peak");
  EXPECT_EQ(peak.difference_bytes, 30);  // 1060 against the mean of 1000 and 1060
  EXPECT_EQ(peak.outcome, AgreementOutcome::explained);
  EXPECT_THAT(codes(peak.reasons), ElementsAre("trials_differ"));
}

TEST(TracerAgreement, SaysWhyAStackIsNotThere) {
  const std::vector<Traced> all = {{"main big", 100000, 10, 0}, {"main small", 500, 1, 0}};
  const TracerAgreement massif = agreement_of(
      traced_by("", all), "massif", traced_by("massif", {{"main big", 100000}, {"[below]", 500}}));
  EXPECT_THAT(codes(massif.tracers[1].stacks->reasons), ElementsAre("threshold"));

  Profile cut = dumped_by("gperftools heap", {{"main big", 100000, 10}, {"cut", 500}}, 0);
  cut.locations.back().names[0].function = kCutOffFrame;
  const TracerAgreement truncated = agreement_of(traced_by("", all), "gperftools", cut);
  EXPECT_THAT(truncated.tracers[1].stacks->reasons.at(0).text,
              HasSubstr("1 not found: its dump is cut off: stacks of 500 B are not in it"));
  EXPECT_EQ(amount_in(truncated, "allocated").outcome, AgreementOutcome::same)
      << "its first line has the totals";

  const TracerAgreement samples = agreement_of(
      traced_by("", all), "jemalloc", dumped_by("pprof", {{"main big", 100000, 10}}, 10000));
  EXPECT_THAT(codes(samples.tracers[1].stacks->reasons), ElementsAre("sampling"));
  const TracerAgreement none = agreement_of(
      traced_by("", all), "heaptrack", traced_by("heaptrack 1.4.0", {{"main big", 100000, 10}}));
  EXPECT_THAT(codes(none.tracers[1].stacks->reasons), ElementsAre("not_found"));
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
  EXPECT_EQ(agreement->tracers[0].besides, "mappings apart, 3.00 MiB at most");
  EXPECT_EQ(agreement->tracers[0].mapping_peak_bytes, 3 << 20);
  EXPECT_EQ(agreement->tracers[1].counts, "bytes of mapped pages of every mapping");
  EXPECT_EQ(agreement->tracers[1].besides, "mappings counted");
  EXPECT_EQ(agreement->tracers[2].counts, "bytes of size classes, one sample per 512.0 KiB");
  EXPECT_EQ(agreement->tracers[2].besides,
            "mappings not counted; jemalloc in place of the program's own");
}

}  // namespace
}  // namespace memduel
