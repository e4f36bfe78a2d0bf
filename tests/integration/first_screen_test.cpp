// Which rows a real run shows first, by programs whose sizes follow from their arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/memduel_program.h"
#include "util/bytes.h"
#include "util/file.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

struct Compared {
  Finished finished;
  json results;
};

Compared compare(const Workplace& place, const std::string& a, const std::string& b) {
  const std::string program = "'" MEMDUEL_END_OF_WORK "' ";
  Compared compared;
  compared.finished =
      memduel(place, {"compare", "--repeats", "5", "--gate", "default", "--export", "markdown",
                      place.path("screen.md").string(), "--out", place.path("run").string(), "--a",
                      program + a, "--b", program + b});
  compared.results = results_in(place.path("run"));
  return compared;
}

std::vector<std::string> metrics_shown(const json& results) {
  std::vector<std::string> metrics;
  for (const json& row : results.at("first_screen").at("rows")) metrics.push_back(row.at("metric"));
  return metrics;
}

json row_shown(const json& results, const std::string& metric) {
  for (const json& row : results.at("first_screen").at("rows"))
    if (row.at("metric") == metric) return row;
  return nullptr;
}

TEST(FirstScreen, HasTheEndOfAProgramThatGivesItsFreeMemoryBack) {
  const Workplace place;
  const Compared run = compare(place, "64 1 keep 300", "64 1 trim 300");
  EXPECT_EQ(run.finished.status, 0) << run.finished.err;
  const json row = row_shown(run.results, "end_rss_bytes");
  ASSERT_FALSE(row.is_null()) << run.finished.out;
  EXPECT_EQ(row.at("why"), "largest_change");
  EXPECT_NEAR(row.at("change").get<double>(), -64 * kMiB, 2 * kMiB);
  const json end = comparison(run.results, row.at("role"), "end_rss_bytes");
  const json peak = comparison(run.results, "all", "peak_rss_bytes");
  EXPECT_GT(end.at("baseline_median").get<double>(), 64 * kMiB);
  EXPECT_LT(end.at("candidate_median").get<double>(), 8 * kMiB);
  EXPECT_NEAR(peak.at("baseline_median").get<double>(), peak.at("candidate_median").get<double>(),
              kMiB);
  const std::string markdown = read_file(place.path("screen.md"));
  for (const std::string& screen : {run.finished.out, markdown}) {
    EXPECT_THAT(screen, ContainsRegex("RSS at the end .*−9[0-9][.0-9]*%"));
    EXPECT_THAT(screen,
                ContainsRegex("b uses as much memory as a, but 9[0-9][.0-9]*% less RSS at the end"))
        << "the sentence";
  }
}

TEST(FirstScreen, HasNoTrifleBesideALargeChange) {
  const Workplace place;
  const Compared run = compare(place, "100 100", "40 400");
  EXPECT_EQ(run.finished.status, 0) << run.finished.err;
  const json live = comparison(run.results, "all", "live_at_end_bytes");
  EXPECT_EQ(live.at("candidate_median").get<double>() - live.at("baseline_median").get<double>(),
            300 * 1008)
      << "glibc adds 8 bytes to 1000";
  EXPECT_THAT(metrics_shown(run.results), Not(Contains("live_at_end_bytes")));
  EXPECT_THAT(run.finished.out, Not(HasSubstr("live heap at exit")));
  const json peak = row_shown(run.results, "peak_rss_no_files_bytes");
  EXPECT_NEAR(peak.at("change").get<double>(), -60 * kMiB, kMiB);
}

TEST(FirstScreen, ExplainsEachFailedGateByItsOwnKindOfMemory) {
  const Workplace place;
  const Compared run = compare(place, "20 1", "24 1");
  EXPECT_EQ(run.finished.status, 1) << run.finished.err;
  const json heap = row_shown(run.results, "peak_heap_and_mapped_bytes");
  ASSERT_FALSE(heap.is_null());
  EXPECT_EQ(heap.at("why"), "failed_gate");
  ASSERT_FALSE(heap.at("causes").empty());
  EXPECT_EQ(heap.at("causes").at(0).at("memory"), "heap");
  EXPECT_EQ(heap.at("causes").at(0).at("function"), "main");
  EXPECT_NEAR(heap.at("causes").at(0).at("size").get<double>(), 4 * kMiB, 64 * kKiB);
  const json peak = row_shown(run.results, "peak_rss_no_files_bytes");
  ASSERT_FALSE(peak.at("causes").empty());
  for (const json& cause : peak.at("causes")) EXPECT_NE(cause.at("memory"), "heap");
  EXPECT_THAT(run.finished.out, ContainsRegex("Why: .*[+]4[.]0. MiB  main"));
}

}  // namespace
}  // namespace memduel
