// Gates on every kind of run that the real program makes: each is judged, and exit code and JUnit
// give one answer, or it is refused with the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "support/memduel_program.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::HasSubstr;

using Words = std::vector<std::string>;

/// A job whose baseline touches 20 MiB, and whose candidate touches 40.
std::string hogs(const Workplace& place) {
  return place.file("hogs.json", R"({
    "name": "hogs", "baseline": "a", "default_gates": false, "profile": { "trials": 0 },
    "workload": { "kind": "command", "processes": [
      { "role": "hog", "argv": [")" MEMDUEL_HOG R"(", "20"] } ] },
    "variants": [ { "name": "a" }, { "name": "b", "argv": { "hog": [")" MEMDUEL_HOG
                                 R"(", "40"] } } ],
    "measure": { "repeats": 6, "seed": 7, "warmups": 0 } })");
}

int number_in(const std::string& xml, const std::string& attribute) {
  std::smatch found;
  const std::regex pattern(attribute + "=\"(\\d+)\"");
  return std::regex_search(xml, found, pattern) ? std::stoi(found[1]) : -1;
}

struct Kind {
  const char* name;
  Words judge;              ///< the command without its gates
  const char* role;         ///< that the gates name
  const char* metric;       ///< whose baseline is 20 MiB, and whose candidate is 40
  bool is_compared = true;  ///< there is a baseline
  int twice = 1;            ///< exit code for twice the memory
};

class GateKinds : public testing::Test {
 protected:
  void make(const Words& command) {
    const Finished made = memduel(place_, command);
    ASSERT_EQ(made.status, 0) << made.err << made.out;
  }

  std::vector<Kind> kinds() {
    const std::string two = hogs(place_);
    const auto dir = [&](const char* name) { return place_.path(name).string(); };
    make({"run", two, "--out", dir("two")});
    make({"watch", "--out", dir("watched"), "--quiet", "--", MEMDUEL_HOG, "40"});
    for (const char* share : {"1", "2", "3"})
      make({"run", two, "--out", dir("share") + share, "--shard", std::string(share) + "/3"});
    make({"merge", dir("share1"), dir("share2"), dir("share3"), "--out", dir("merged"), "--export",
          "json", dir("merged.json")});
    make({"compare", "--a", MEMDUEL_HOG " 20", "--b", MEMDUEL_HOG " 40", "--out", dir("commands"),
          "--repeats", "6", "--set", "profile.trials=0"});
    make({"compare", "--a", MEMDUEL_HOG " 40", "--b", MEMDUEL_HOG " 20", "--out", dir("turned"),
          "--repeats", "6", "--set", "profile.trials=0"});
    make({"watch", "--out", dir("watched-20"), "--quiet", "--", MEMDUEL_HOG, "20"});
    return {
        {"check of a run", {"check", dir("two")}, "all", "peak_rss_bytes"},
        {"check of a watched job", {"check", dir("watched")}, "all", "peak_rss_bytes", false},
        {"check of merged shards", {"check", dir("merged")}, "all", "peak_rss_bytes"},
        {"check of two commands", {"check", dir("commands")}, "all", "peak_rss_bytes"},
        {"two run directories", {"compare", dir("two"), dir("turned")}, "all", "peak_rss_bytes"},
        {"check of a share",
         {"check", dir("share1")},
         "all",
         "peak_rss_bytes",
         true,
         5},  // two blocks decide nothing
        {"two watched jobs",
         {"compare", dir("watched-20"), dir("watched")},
         "all",
         "peak_rss_bytes",
         true,
         5},  // one trial of each
        {"two benchmark files",
         {"compare", MEMDUEL_TESTDATA "/google_benchmark_a.json",
          MEMDUEL_TESTDATA "/google_benchmark_b.json"},
         "*",
         "real_time_seconds"},
        {"run", {"run", two, "--out", dir("again")}, "all", "peak_rss_bytes"},
        {"commands",
         {"compare", "--a", MEMDUEL_HOG " 20", "--b", MEMDUEL_HOG " 40", "--repeats", "6", "--set",
          "profile.trials=0", "--out", dir("again")},
         "all",
         "peak_rss_bytes"}};
  }

  /// The command with one gate: judged with one answer, or refused.
  Finished judge(const Kind& kind, const std::string& gate) {
    std::filesystem::remove_all(place_.path("again"));
    const std::filesystem::path junit = place_.path("junit.xml");
    std::filesystem::remove(junit);
    Words command = kind.judge;
    command.insert(command.end(), {"--gate", gate, "--export", "junit", junit.string()});
    Finished judged = memduel(place_, command);
    if (judged.status == 2) {
      EXPECT_THAT(judged.err, HasSubstr("gate '")) << kind.name << ": " << gate;
      EXPECT_FALSE(std::filesystem::exists(junit));
      return judged;
    }
    const std::string xml = read_text_file(junit);
    EXPECT_GE(number_in(xml, "tests"), 1) << kind.name << ": " << gate;
    EXPECT_EQ(number_in(xml, "failures") + number_in(xml, "errors") > 0, judged.status != 0)
        << kind.name << ": " << gate << "\n"
        << xml << judged.err;
    return judged;
  }

  Workplace place_;
};

TEST_F(GateKinds, AreJudgedOrRefused) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const std::string row = std::string(kind.role) + "." + kind.metric;
    const bool is_time = row.ends_with("_seconds");
    const std::string low = is_time ? "<=1us" : "<=1MiB";
    const std::string high = is_time ? "<=1min" : "<=900MiB";
    EXPECT_EQ(judge(kind, row + low).status, 1);
    EXPECT_EQ(judge(kind, row + low + ":advisory").status, 0);
    EXPECT_EQ(judge(kind, row + high).status, 0);
    EXPECT_EQ(judge(kind, "*." + std::string(kind.metric) + low).status, 1);
    EXPECT_EQ(judge(kind, "nobody.peak_rss_bytes<=1MiB").status, 2);
    EXPECT_EQ(judge(kind, "all.peak_gpu_used_bytes<=1MiB").status, is_time ? 2 : 3);
    EXPECT_EQ(judge(kind, row + "<=+1%|" + low.substr(2)).status,
              kind.is_compared && !is_time ? kind.twice : 2);
    // The two benchmark files have one value of the heap each, which decides nothing.
    EXPECT_EQ(judge(kind, "default").status, !kind.is_compared ? 2 : is_time ? 0 : kind.twice);
    const int compared = judge(kind, row + "<=+1%").status;
    EXPECT_EQ(compared, !kind.is_compared || is_time ? 2 : kind.twice) << "twice the memory";
    EXPECT_EQ(judge(kind, row + "<=-20%").status, compared) << "no saving";
  }
}

// A hog of 20 MiB in place of one of 40 has 20 MiB less, which is between 30% and 60%.
TEST_F(GateKinds, ASavingIsAskedForAndStated) {
  make({"compare", "--a", MEMDUEL_HOG " 40", "--b", MEMDUEL_HOG " 20", "--out",
        place_.path("saves").string(), "--repeats", "6", "--set", "profile.trials=0"});
  const Words check = {"check", place_.path("saves").string()};
  const Kind kind{"a saving", check, "all", "peak_rss_bytes"};
  const Finished saved = judge(kind, "peak_rss<=-30%");
  EXPECT_EQ(saved.status, 0) << saved.out;
  EXPECT_THAT(saved.out, HasSubstr("(limit −30%) passed"));
  EXPECT_EQ(judge(kind, "peak_rss<=-19MiB").status, 0);
  const Finished missed = judge(kind, "peak_rss<=-60%");
  EXPECT_EQ(missed.status, 1) << missed.out;
  EXPECT_THAT(missed.out, HasSubstr("(limit −60%) failed"));
  EXPECT_THAT(read_text_file(place_.path("junit.xml")), HasSubstr("misses the limit of -60%"));
}

}  // namespace
}  // namespace memduel
