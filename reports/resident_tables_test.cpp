#include <gtest/gtest.h>

#include "model/metric_catalogue.h"
#include "reports/memory_tables.h"

namespace memduel {
namespace {

constexpr double kMiB = 1024 * 1024;

Difference row(const std::vector<std::string>& stack, double mib) {
  Difference difference;
  difference.candidate = "b";
  difference.role = "server";
  difference.kind = "resident";
  difference.stack = stack;
  difference.bytes = mib * kMiB;
  return difference;
}

ResidentMemory memory(const std::string& arm, std::vector<ResidentOwner> owners) {
  ResidentMemory of;
  of.arm = arm;
  of.role = "server";
  for (ResidentOwner& owner : owners) {
    owner.bytes *= kMiB;
    of.bytes += owner.bytes;
  }
  of.owners = std::move(owners);
  of.round = 3;
  of.phase = "upload";
  return of;
}

/// From 400 to 290 MiB.
Results sample() {
  Results results;
  results.baseline = "a";
  results.resident = {memory("a", {{"live", "", 200},
                                   {"free", "further-arenas", 80},
                                   {"file", "libx.so", 119},
                                   {"other", "", 1}}),
                      memory("b", {{"live", "", 140},
                                   {"free", "further-arenas", 20},
                                   {"file", "libx.so", 128},
                                   {"other", "", 2}})};
  results.differences = {
      row({"free", "further-arenas"}, -60), row({"live", "main", "State::copy"}, -40),
      row({"live", "main", "load", "State::copy"}, -15), row({"live", "main", "Log::keep"}, 0.5),
      row({"file:libx.so", "shared"}, 9)};
  GateResult gate;
  gate.candidate = "b";
  gate.role = "server";
  gate.metric = std::string(kPeakRss);
  results.gates = {gate};
  return results;
}

TEST(ResidentTables, StepsLeadFromOnePeakToTheOther) {
  const std::vector<ResidentTable> tables = resident_tables(sample());
  ASSERT_EQ(tables.size(), 1U);
  const ResidentTable& table = tables[0];
  EXPECT_EQ(table.baseline_bytes, 400 * kMiB);
  EXPECT_EQ(table.candidate_bytes, 290 * kMiB);
  double sum = 0;
  for (const WaterfallStep& step : table.steps) sum += step.size;
  EXPECT_DOUBLE_EQ(sum, -110 * kMiB);
  for (std::size_t i = 1; i < table.steps.size(); ++i)
    EXPECT_LE(table.steps[i - 1].size, table.steps[i].size) << "less memory first";
}

TEST(ResidentTables, StepsAreNamedByOwnerAndFunction) {
  std::vector<std::pair<std::string, double>> named;
  const ResidentTable table = resident_tables(sample()).at(0);
  for (const WaterfallStep& step : table.steps) named.emplace_back(step.words, step.size / kMiB);
  const std::vector<std::pair<std::string, double>> expected = {
      {"held by malloc after free (thread arenas)", -60},
      {"State::copy, called from main", -40},
      {"State::copy, called from load", -15},
      {"all other live allocations", -5},
      {"other: no owner was found", 1},
      {"libx.so (mapped file, reclaimable)", 9}};
  EXPECT_EQ(named, expected) << "half a MiB of Log::keep is below 1/200 and in the rest";
}

TEST(ResidentTables, OwnersOfBothArmsStandSideBySide) {
  const ResidentTable table = resident_tables(sample()).at(0);
  ASSERT_EQ(table.owners.size(), 4U);
  EXPECT_EQ(table.owners[0].owner, "live");
  EXPECT_EQ(table.owners[1].owner, "free");
  EXPECT_EQ(table.owners[1].baseline_bytes, 80 * kMiB);
  EXPECT_EQ(table.owners[1].candidate_bytes, 20 * kMiB);
}

TEST(ResidentTables, TheRemarkHoldsTheSnapshotToTheMeasuredPeak) {
  Results results = sample();
  Comparison measured;
  measured.candidate = "b";
  measured.role = "server";
  measured.metric = std::string(kPeakRss);
  measured.baseline_median = 500 * kMiB;
  measured.candidate_median = 290 * kMiB;
  results.comparisons = {measured};
  const ResidentTable table = resident_tables(results).at(0);
  ASSERT_EQ(table.remarks.size(), 2U);
  EXPECT_NE(table.remarks[0].find("80.0%"), std::string::npos) << table.remarks[0];
  EXPECT_NE(table.remarks[0].find("round 3"), std::string::npos);
  EXPECT_NE(table.remarks[1].find("100.0%"), std::string::npos) << table.remarks[1];
}

TEST(ResidentTables, ARoleOfSeveralProcessesIsWholeAndTheSnapshotAPartOfIt) {
  Results results = sample();
  Comparison measured;
  measured.candidate = "b";
  measured.role = "server";
  measured.metric = std::string(kPeakRss);
  measured.baseline_median = 500 * kMiB;
  measured.candidate_median = 900 * kMiB;
  results.comparisons = {measured};
  const ResidentTable table = resident_tables(results).at(0);
  EXPECT_EQ(table.baseline_bytes, 500 * kMiB);
  EXPECT_EQ(table.candidate_bytes, 900 * kMiB);
  EXPECT_EQ(table.steps.back().words, "in other processes of server, or at another time");
  EXPECT_EQ(table.steps.back().size, (900 - 290 - (500 - 400)) * kMiB);
  double sum = 0;
  for (const WaterfallStep& step : table.steps) sum += step.size;
  EXPECT_DOUBLE_EQ(sum, 400 * kMiB);
  EXPECT_EQ(table.owners.back().baseline_bytes, 100 * kMiB);
  EXPECT_EQ(table.owners.back().candidate_bytes, 610 * kMiB);
}

Comparison measured_row(const char* role, const char* metric, double baseline, double candidate,
                        bool asked) {
  Comparison row;
  row.candidate = "b";
  row.role = role;
  row.metric = metric;
  row.baseline_median = baseline * kMiB;
  row.candidate_median = candidate * kMiB;
  row.gate = asked;
  return row;
}

/// A server and four children, which copy 38 MiB each of what they have from it, or nothing. Of the
/// files 6 MiB are in each process.
Results preforking() {
  Results results = sample();
  results.job.roles = {"server"};
  results.resident = {
      memory("a", {{"live", "", 70}, {"inherited", "own-copy", 152}, {"file", "libx.so", 6}}),
      memory("b", {{"live", "", 70}, {"inherited", "own-copy", 2}, {"file", "libx.so", 6}})};
  for (ResidentMemory& of : results.resident) {
    of.processes = 5;
    of.page_cache_bytes = 6 * kMiB;
  }
  results.resident[0].counted_again_bytes = 150 * kMiB;
  results.resident[1].counted_again_bytes = 300 * kMiB;
  results.differences = {row({"inherited", "own-copy"}, -150), row({"file:libx.so", "shared"}, 2)};
  results.comparisons = {measured_row("all", "peak_shared_once_bytes", 222, 72, true),
                         measured_row("server", "peak_rss_bytes", 378, 378, false)};
  results.gates.front().role = "all";
  results.gates.front().metric = "peak_shared_once_bytes";
  return results;
}

TEST(ResidentTables, OfProcessesThatShareEachPageCountsOnceWhereTheGateAsksSo) {
  const ResidentTable table = resident_tables(preforking()).at(0);
  EXPECT_EQ(table.baseline_bytes, 222 * kMiB);
  EXPECT_EQ(table.candidate_bytes, 72 * kMiB);
  ASSERT_EQ(table.steps.size(), 1U) << "pages of files are no part of the metric";
  EXPECT_EQ(table.steps[0].size, -150 * kMiB);
  EXPECT_EQ(table.steps[0].words, "pages of the parent that forked children copied on write");
  EXPECT_EQ(table.remarks[0],
            "a: the snapshots of 5 processes that ran at once add up to 222.0 MiB beside 6.00 MiB "
            "of page cache in round 3, phase upload, 100.0% of the measured peak with each page "
            "once of 222.0 MiB");
}

TEST(ResidentTables, ASumOfResidentSetsHasSharedPagesForEachProcess) {
  Results results = preforking();
  results.differences.pop_back();
  results.comparisons[0].gate = false;
  const ResidentTable table = resident_tables(results).at(0);
  EXPECT_EQ(table.baseline_bytes, 378 * kMiB);
  EXPECT_EQ(table.candidate_bytes, 378 * kMiB);
  ASSERT_EQ(table.steps.size(), 2U);
  EXPECT_EQ(table.steps.back().words, "double-counted shared memory");
  EXPECT_EQ(table.steps.back().size, 150 * kMiB);
}

TEST(ResidentTables, PeaksOfProcessesAtDifferentTimesAreHeldToTheMeasuredOne) {
  Results results = preforking();
  results.comparisons[0].baseline_median = 150 * kMiB;
  const ResidentTable table = resident_tables(results).at(0);
  EXPECT_EQ(table.baseline_bytes, 150 * kMiB);
  EXPECT_EQ(table.owners.back().owner, kElsewhere);
  EXPECT_EQ(table.owners.back().baseline_bytes, -72 * kMiB);
}

TEST(ResidentTables, RolesAreInTheOrderOfWhatTheyMeasuredNotOfTheSnapshots) {
  Results results = sample();
  for (std::size_t i = 0; i < 2; ++i) {
    ResidentMemory worker = results.resident[i];
    worker.role = "worker";
    worker.bytes = 100 * kMiB;
    results.resident.push_back(worker);
  }
  Comparison measured;
  measured.candidate = "b";
  measured.role = "worker";
  measured.metric = std::string(kPeakRss);
  measured.baseline_median = 200 * kMiB;
  measured.candidate_median = 800 * kMiB;
  results.comparisons = {measured};
  GateResult gate = results.gates.front();
  gate.role = "worker";
  results.gates.push_back(gate);
  EXPECT_EQ(resident_tables(results).at(0).role, "worker");
}

TEST(ResidentTables, BytesThatTheProgramTellsByNameStandBeside) {
  Results results = sample();
  Comparison told;
  told.candidate = "b";
  told.role = "server";
  told.metric = "update_cache_bytes";
  told.baseline_median = 30 * kMiB;
  told.candidate_median = 3 * kMiB;
  Comparison known = told;
  known.metric = std::string(kPeakPss);
  Comparison loss = told;
  loss.metric = "train_loss";
  results.comparisons = {told, known, loss};
  const ResidentTable table = resident_tables(results).at(0);
  ASSERT_EQ(table.told.size(), 1U);
  EXPECT_EQ(table.told[0].owner, "update_cache_bytes");
  EXPECT_EQ(table.told[0].candidate_bytes, 3 * kMiB);
}

TEST(ResidentTables, NothingIsSaidOfOneSideAlone) {
  Results results = sample();
  results.resident.erase(results.resident.begin());
  EXPECT_TRUE(resident_tables(results).empty());
}

TEST(ResidentTables, AStepSaysWhatItsOwnerIsAndWhoMadeIt) {
  const auto words = [](const std::vector<std::string>& stack) {
    Results results = sample();
    results.differences.resize(1);
    results.differences[0].stack = stack;
    const ResidentTable table = resident_tables(results).at(0);
    for (const WaterfallStep& step : table.steps)
      if (step.size == results.differences[0].bytes) return step.words;
    return std::string();
  };
  EXPECT_EQ(words({"fragmentation", "main", "serve", "stage"}),
            "stage, called from serve (fragmentation)");
  EXPECT_EQ(words({"mapped", "map_table"}), "mmap in map_table");
  EXPECT_EQ(words({"mapped", "main (job.py)", "small Python objects"}),
            "main (job.py) (small Python objects)");
  EXPECT_EQ(words({"mapped", "V8 heap"}), "V8 heap");
  EXPECT_EQ(words({"other", "other anonymous memory"}), "other anonymous memory");
  EXPECT_EQ(words({"file:libc.so.6", "private-copy"}), "libc.so.6 (private copy of a file)");
  EXPECT_EQ(words({"stack", "other-threads"}), "stacks of other threads");
}

}  // namespace
}  // namespace memduel
