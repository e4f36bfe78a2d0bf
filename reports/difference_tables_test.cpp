#include <gmock/gmock.h>

#include "reports/memory_tables.h"
#include "test_sample_run.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Results with_totals(const std::vector<std::pair<std::string, std::string>>& role_kinds) {
  Results results;
  results.baseline = "a";
  results.job.groups = {{"client", 2}};
  double bytes = 10;
  for (const auto& [role, kind] : role_kinds)
    results.difference_totals.push_back({"b", role, kind, "malloc", 0, bytes += 10, 0, 1});
  return results;
}

GateResult gate(const std::string& role, const std::string& metric, GateOutcome outcome) {
  GateResult result;
  result.role = role;
  result.metric = metric;
  result.candidate = "b";
  result.outcome = outcome;
  return result;
}

std::vector<std::string> titles(const Results& results) {
  std::vector<std::string> found;
  for (const DifferenceTable& table : difference_tables(results))
    found.push_back(table.title.substr(0, table.title.find(':')));
  return found;
}

TEST(DifferenceTables, AnswerTheFailedGates) {
  Results results =
      with_totals({{"server", "peak"}, {"server", "allocations"}, {"client-1", "peak"}});
  results.gates = {gate("client_max", "peak_rss_bytes", GateOutcome::passed),
                   gate("server", "allocation_count", GateOutcome::failed)};
  EXPECT_THAT(titles(results), ElementsAre("server, everything allocated"));
}

TEST(DifferenceTables, AnswerAllGatesWhereNoneFailed) {
  Results results = with_totals({{"server", "peak"}, {"client-1", "peak"}, {"server", "live"}});
  results.gates = {gate("client_max", "peak_rss_bytes", GateOutcome::passed),
                   gate("server", "live_at_end_bytes", GateOutcome::passed)};
  EXPECT_THAT(titles(results), ElementsAre("client-1 at its peak", "server, never freed"));
}

TEST(DifferenceTables, OfTheTreeAreThoseOfTheRolesThatChangedMost) {
  Results results = with_totals(
      {{"client-1", "peak"}, {"client-2", "peak"}, {"server", "peak"}, {"logger", "peak"}});
  results.gates = {gate("all", "peak_heap_bytes", GateOutcome::failed),
                   gate("all", "peak_rss_bytes", GateOutcome::failed)};
  EXPECT_THAT(titles(results),
              ElementsAre("logger at its peak", "server at its peak", "client-2 at its peak"));
}

TEST(DifferenceTables, OfGrowthAreWhatRoundsLeaveElseThePeak) {
  Results results = with_totals({{"server", "peak"}, {"server", "retained"}});
  results.gates = {gate("server", "rss_growth_bytes_per_round", GateOutcome::failed)};
  EXPECT_THAT(titles(results),
              ElementsAre("server, born in a round and live at the end of the last"));
  results = with_totals({{"server", "peak"}});
  results.gates = {gate("server", "rss_growth_bytes_per_round", GateOutcome::failed)};
  EXPECT_THAT(titles(results), ElementsAre("server at its peak"));
}

TEST(DifferenceTables, ShowOwnMappingsWhereTheirSumDiffers) {
  Results results = with_totals({{"server", "peak"}, {"server", "peak"}});
  results.gates = {gate("server", "peak_rss_bytes", GateOutcome::failed)};
  DifferenceTotal& mappings = results.difference_totals[1];
  mappings.heap = "mapped";
  mappings.baseline_bytes = 100 << 20;
  mappings.candidate_bytes = (100 << 20) + (512 << 10);
  EXPECT_THAT(titles(results), ElementsAre("server at its peak")) << "inside 0.5%";
  mappings.candidate_bytes += 1 << 20;
  EXPECT_THAT(titles(results),
              ElementsAre("server, its own mappings at its peak", "server at its peak"));
}

TEST(DifferenceTables, OfBothHeapsLeaveOutThoseOfOneUnlessAGateAsksForIt) {
  Results results = with_totals({{"server", "peak"}, {"server", "peak"}});
  results.difference_totals[1].heap = "heap_and_mapped";
  results.gates = {gate("server", "peak_rss_bytes", GateOutcome::passed),
                   gate("server", "peak_heap_and_mapped_bytes", GateOutcome::passed)};
  EXPECT_THAT(titles(results), ElementsAre("server, heap and mappings at its peak"));
  results.gates.push_back(gate("server", "peak_heap_bytes", GateOutcome::passed));
  EXPECT_THAT(titles(results),
              ElementsAre("server at its peak", "server, heap and mappings at its peak"));
}

TEST(DifferenceTables, OfTimeAreNone) {
  Results results = with_totals({{"server", "peak"}});
  results.gates = {gate("server", "round_seconds", GateOutcome::failed)};
  EXPECT_THAT(difference_tables(results), IsEmpty());
}

TEST(DifferenceTables, SayThatNothingDiffers) {
  Results results = with_totals({{"server", "peak"}});
  results.difference_totals[0].stacks = 0;
  results.gates = {gate("server", "peak_rss_bytes", GateOutcome::failed)};
  const auto tables = difference_tables(results);
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_THAT(tables[0].remark, HasSubstr("no stack differs by more than chance"));
}

TEST(DifferenceTables, LeaveOutTheHalfWidthOfAnExactProfile) {
  Sample sample = make_sample({.series = false, .differences = true});
  sample.results.differences[0].half_width_bytes = 3.7e-11;
  EXPECT_EQ(difference_tables(sample.results).at(0).rows.at(0).amount, "−200.0 MiB");
}

TEST(DifferenceTables, ReadAsOneRowPerStack) {
  const auto tables =
      difference_tables(make_sample({.series = false, .differences = true}).results);
  ASSERT_THAT(tables, SizeIs(1));
  ASSERT_THAT(tables[0].rows, SizeIs(2));
  const DifferenceRow& copies = tables[0].rows[0];
  EXPECT_EQ(copies.amount, "−200.0 ± 4.0 MiB");
  EXPECT_EQ(copies.share, "91%");
  EXPECT_EQ(copies.function, "clone");
  EXPECT_EQ(copies.size, -200.0 * (1 << 20));
  EXPECT_EQ(copies.caller, "aggregate");
  EXPECT_THAT(copies.callers, ElementsAre("aggregate", "serve", "main"));
  EXPECT_EQ(copies.phase, "aggregate");
  EXPECT_FALSE(copies.more);
}

/// Of a candidate `b` whose server has 100 MiB less of `metric`.
Comparison less_by_100(const std::string& metric) {
  Comparison row;
  row.candidate = "b";
  row.role = "server";
  row.metric = metric;
  row.baseline_median = 300.0 * 1048576;
  row.candidate_median = 200.0 * 1048576;
  return row;
}

Results with_stacks(const std::string& kind, const std::vector<Difference>& stacks) {
  Results results = with_totals({{"server", kind}});
  results.difference_totals[0].baseline_bytes = 0;
  results.difference_totals[0].candidate_bytes = 0;
  for (Difference row : stacks) {
    row.candidate = "b";
    row.role = "server";
    row.kind = kind;
    row.bytes *= 1048576;
    results.difference_totals[0].candidate_bytes += row.bytes;
    results.differences.push_back(std::move(row));
  }
  return results;
}

Difference stack_with(const std::vector<std::string>& stack, double mib,
                      const std::string& location) {
  Difference row;
  row.stack = stack;
  row.bytes = mib;
  row.location = location;
  return row;
}

TEST(Causes, AreCallsWithTheirLocationAndTheirShareOfTheChange) {
  const Results results = with_stacks(
      "peak", {stack_with({"main", "load(int)", "operator new(unsigned long)"}, -60, "x.cpp:8"),
               stack_with({"main", "keep()"}, 20, "")});
  const std::vector<Cause> causes = causes_of(results, less_by_100("peak_heap_bytes"));
  ASSERT_THAT(causes, SizeIs(2));
  EXPECT_EQ(causes[0].name, "load, called from main");
  EXPECT_EQ(causes[0].location, "x.cpp:8");
  EXPECT_DOUBLE_EQ(causes[0].share, 0.6);
  EXPECT_EQ(causes[1].location, "");
  EXPECT_EQ(causes[1].share, 0) << "it goes the other way";
}

TEST(Causes, OfGrowthHaveSharesOfWhatRoundsLeave) {
  const Results results = with_stacks(
      "retained", {stack_with({"main", "keep()"}, 30, ""), stack_with({"main", "log()"}, 10, "")});
  const std::vector<Cause> causes = causes_of(results, less_by_100("rss_growth_bytes_per_round"));
  ASSERT_THAT(causes, SizeIs(2));
  EXPECT_DOUBLE_EQ(causes[0].share, 0.75);
}

TEST(CalledFrom, LeavesTheFileToTheLocation) {
  EXPECT_EQ(called_from("load, list comprehension (a.py)", "main (a.py)", "jobs/a.py:12"),
            "load, list comprehension, called from main");
  EXPECT_EQ(called_from("load (a.py)", "main (b.py)", "a.py:12"), "load, called from main (b.py)");
  EXPECT_EQ(called_from("load (a.py)", "main (a.py)", ""), "load (a.py), called from main (a.py)");
  EXPECT_EQ(called_from("load", "", "x.cpp:3"), "load");
  EXPECT_EQ(called_from("small Python objects", "load (a.py)", "a.py:3"),
            "load (small Python objects)");
  EXPECT_EQ(called_from("V8 heap", "", ""), "V8 heap");
}

}  // namespace
}  // namespace memduel
