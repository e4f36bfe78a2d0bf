#include "analysis/verdicts/moved_peaks.h"

#include <gmock/gmock.h>

namespace memduel {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TrialData trial(const std::string& arm, double fit, double evaluate) {
  RoleData server;
  server.role = "server";
  for (int round = 1; round <= 2; ++round) {
    RoundData data;
    data.round = round;
    data.phases = {{"fit", 0, 1, {{"peak_rss_bytes", fit + round}}},
                   {"evaluate", 1, 2, {{"peak_rss_bytes", evaluate + round}}}};
    server.rounds.edit().push_back(data);
  }
  TrialData data;
  data.arm = arm;
  data.kind = TrialKind::measure;
  data.status = TrialStatus::ok;
  data.roles = {server};
  return data;
}

std::vector<Note> moved(const TrialData& before, const TrialData& after) {
  RunData run;
  run.trials = {before, after};
  return moved_peaks(run, "a",
                     {{"b", "server", "peak", "malloc"}, {"b", "server", "peak", "mapping"}});
}

TEST(MovedPeaks, AreSaidOnceARoleWithBothPhases) {
  const std::vector<Note> notes = moved(trial("a", 900, 700), trial("b", 600, 700));
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_EQ(notes[0].code, "peak_moved");
  EXPECT_THAT(notes[0].message,
              HasSubstr("server is largest in its phase fit with a and in evaluate with b"));
}

TEST(MovedPeaks, AreNoneWherePeaksStayOrPhasesAreAlike) {
  EXPECT_THAT(moved(trial("a", 900, 700), trial("b", 800, 700)), IsEmpty());
  EXPECT_THAT(moved(trial("a", 705, 700), trial("b", 600, 700)), IsEmpty()) << "within a fiftieth";
  EXPECT_THAT(moved(TrialData{}, trial("b", 600, 700)), IsEmpty()) << "no phases of the baseline";
}

}  // namespace
}  // namespace memduel
