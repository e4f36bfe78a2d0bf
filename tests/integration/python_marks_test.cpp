// Marks from Python, over the wire of annotate.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memduel_program.h"

namespace memduel {
namespace {

constexpr const char* kScript = R"(
import os, sys
sys.path.insert(0, os.environ["MEMDUEL_ANNOTATE_DIR"])
import memduel_annotate as memduel
memduel.idle()
for n in (1, 2):
    memduel.round_begin(n)
    memduel.phase("train")
    block = b"x" * (int(sys.argv[1]) << 20)
    memduel.gauge("train_loss", 0.1 * n)
    memduel.gauge("heap_in_use_bytes", 12345)
    memduel.gauge("ignored", float("nan"))
    del block
    memduel.phase("upload")
    memduel.phase(None)
    if os.fork() == 0:
        memduel.gauge("train_loss", 99)  # a child is silent
        os._exit(0)
    os.wait()
    memduel.round_end(n)
)";

TEST(PythonMarks, GiveRoundsPhasesAndGaugesToARun) {
  const Workplace place;
  const std::string script = place.file("marks.py", kScript);
  const std::string command =
      "MEMDUEL_ANNOTATE_DIR=" MEMDUEL_SOURCES "/include/memduel /usr/bin/python3 " + script;
  const Finished run = memduel(place, {"compare", "--a", command + " 30", "--b", command + " 20",
                                       "--repeats", "5", "--out", place.path("run").string()});
  ASSERT_EQ(run.status, 0) << run.err;
  const nlohmann::json results = results_in(place.path("run"));
  int seen = 0;
  for (const auto& trial : results.at("trials")) {
    for (const auto& role : trial.at("roles")) {
      if (role.at("role") != "command") continue;
      EXPECT_TRUE(role.at("metrics").contains("idle_rss_bytes"));
      ASSERT_EQ(role.at("rounds").size(), 2U);
      for (const auto& round : role.at("rounds")) {
        ++seen;
        EXPECT_EQ(round.at("metrics").at("train_loss"), 0.1 * round.at("round").get<int>());
        EXPECT_EQ(round.at("metrics").at("heap_in_use_bytes"), 12345);
        EXPECT_FALSE(round.at("metrics").contains("ignored"));
        ASSERT_EQ(round.at("phases").size(), 2U);
        const double train = round.at("phases")[0].at("metrics").at("peak_rss_bytes");
        const double upload = round.at("phases")[1].at("metrics").at("peak_rss_bytes");
        EXPECT_EQ(round.at("phases")[0].at("phase"), "train");
        // The peak was reset between the phases: the block of train is not in that of upload. From
        // round 2 on glibc keeps such blocks for the next one.
        if (round.at("round") == 1) {
          EXPECT_GT(train - upload, 19 << 20);
        }
      }
    }
  }
  EXPECT_GE(seen, 20);
}

}  // namespace
}  // namespace memduel
