// Two builds of a project that is not ours, each in a directory of its own; the forms of compare.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "foreign_repository.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

/// Two build directories of the project, buffers of 8 and 12 MiB; made once.
class BuildDirectories : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = new Workplace;
    const ForeignRepository repository(*place_);
    for (const auto& [name, size] : {std::pair{"old", 8}, {"new", 12}}) {
      repository.set_buffer(size);
      output_of("cd " + repository.path().string() + " && " + ForeignRepository::quick_build());
      fs::copy(repository.path("out"), place_->path(name), fs::copy_options::recursive);
    }
  }
  static void TearDownTestSuite() { delete place_; }
  static const Workplace& built() { return *place_; }

  /// The program in directories of `built()`.
  Finished duel(const std::string& a, const std::string& b, std::vector<std::string> more = {},
                const std::string& program = "ledger") {
    std::vector<std::string> words = {"compare",
                                      "--build-a",
                                      built().path(a),
                                      "--build-b",
                                      built().path(b),
                                      "--out",
                                      place_of_run_.path("run"),
                                      "--repeats",
                                      "3",
                                      "--gate",
                                      "all.peak_heap_bytes<=+1%"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", program, "1000"});
    return memduel(place_of_run_, words);
  }
  [[nodiscard]] nlohmann::json results() const { return results_in(results_directory()); }
  [[nodiscard]] fs::path results_directory() const { return place_of_run_.path("run"); }

 private:
  static inline Workplace* place_ = nullptr;
  Workplace place_of_run_;
};

TEST_F(BuildDirectories, EachRunsItsOwnProgramWithItsOwnLibrary) {
  const Finished run = duel("old", "new");
  EXPECT_EQ(run.status, 1) << run.err;
  const auto builds = results().at("environment").at("builds");
  for (const char* name : {"old", "new"}) {
    const auto& library = builds.at(name).at(0).at("libraries").at(0);
    EXPECT_EQ(library.at("path"), built().path(name + std::string("/libledger_store.so")).string());
  }
  EXPECT_EQ(results().at("differences").at(0).at("bytes"), 4 << 20);
}

TEST_F(BuildDirectories, AMovedBuildLoadsItsOwnLibraryAllTheSame) {
  // The candidate names its library by the directory of the other build.
  const fs::path moved = built().path("moved");
  fs::copy(built().path("new"), moved, fs::copy_options::recursive);
  output_of("cd " + built().path("repository").string() + " && c++ -o " + moved.string() +
            "/ledger main.cpp -L" + moved.string() +
            " -lledger_store -Wl,--enable-new-dtags,-rpath," + built().path("old").string());
  const Finished run = duel("old", "moved");
  EXPECT_EQ(run.status, 1) << run.err << "\nwith the other's library there is no difference";
  EXPECT_EQ(comparison(results(), "all", "peak_heap_bytes").at("verdict"), "regressed");

  // DT_RPATH comes before everything that could be done about it.
  output_of("cd " + built().path("repository").string() + " && c++ -o " + moved.string() +
            "/ledger main.cpp -L" + moved.string() +
            " -lledger_store -Wl,--disable-new-dtags,-rpath," + built().path("old").string());
  const Finished refused = duel("old", "moved");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("libledger_store.so"), HasSubstr("not from its own"),
                                 HasSubstr("--enable-new-dtags")));
}

TEST_F(BuildDirectories, ThatLoadTheSameCodeAreMeasuredWithAWarningUnlessItIsACalibration) {
  fs::copy(built().path("old"), built().path("copy"), fs::copy_options::recursive);
  output_of("strip --strip-debug " + built().path("copy/ledger").string());
  const Finished same = duel("old", "copy");
  EXPECT_EQ(same.status, 0) << same.err;
  EXPECT_THAT(results().at("warnings").dump(),
              AllOf(HasSubstr("builds_have_equal_code"), HasSubstr("ledger, build id"),
                    HasSubstr("with libledger_store.so"), HasSubstr("--calibrate")));
  fs::remove_all(results_directory());
  EXPECT_EQ(duel("old", "copy", {"--calibrate"}).status, 0);
  EXPECT_THAT(results().at("warnings").dump(), Not(HasSubstr("builds_have_equal_code")));
}

TEST_F(BuildDirectories, NameWhatTheyLack) {
  const Finished program = duel("old", "new", {}, "ladger");
  EXPECT_EQ(program.status, 2);
  EXPECT_THAT(program.err, AllOf(HasSubstr("no executable \"ladger\""), HasSubstr("/new")));
  EXPECT_EQ(duel("old", "new", {}, "/bin/true").status, 2);
  EXPECT_EQ(duel("old", "new", {}, "../new/ledger").status, 2);
  const Finished directory = duel("old", "newer");
  EXPECT_EQ(directory.status, 2);
  EXPECT_THAT(directory.err, HasSubstr("is not a directory"));
  fs::create_directories(built().path("alone"));
  fs::copy_file(built().path("new/ledger"), built().path("alone/ledger"),
                fs::copy_options::overwrite_existing);
  const Finished library = duel("old", "alone");
  EXPECT_EQ(library.status, 2);
  EXPECT_THAT(library.err, HasSubstr("needs libledger_store.so"));
}

TEST_F(BuildDirectories, RunTheProcessesOfAConfigThatAreTheirs) {
  const Workplace place;
  const std::string config = place.file("job.json", R"({
    "name": "job", "baseline": "one", "workload": { "kind": "command", "processes": [
      { "role": "ledger", "argv": ["ledger", "10"] },
      { "role": "shell", "argv": ["sh", "-c", "exit 0"] } ] },
    "variants": [ { "name": "one", "append": { "ledger": ["ü b"] } }, { "name": "two", "env": {"X": "1"} } ],
    "gates": ["ledger.peak_heap_bytes<=+1%"], "measure": { "repeats": 3 } })");
  const Finished run = memduel(place, {"compare", "--build-a", built().path("old"), "--build-b",
                                       built().path("new"), "--out", place.path("run"), config});
  EXPECT_EQ(run.status, 1) << run.err;
  const auto results = results_in(place.path("run"));
  EXPECT_EQ(comparison(results, "ledger", "peak_heap_bytes").at("verdict"), "regressed");
  EXPECT_EQ(results.at("variants").at(0).at("name"), "old");
  const auto config_of_run = nlohmann::json::parse(read_file(place.path("run/config.json")));
  EXPECT_EQ(config_of_run.at("variants").at(1).at("argv").at("ledger").at(0),
            built().path("new/ledger").string());
  EXPECT_EQ(config_of_run.at("variants").at(1).at("append").at("ledger").at(0), "ü b");
  const Finished none = memduel(place, {"compare", "--build-a", built().path("old"), "--build-b",
                                        built().path("new"), "--variant", "three", config});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("three"));
}

TEST(CompareForms, AreToldApart) {
  const Workplace place;
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--build-a", "x", "--", "p"}, "needs both --build-a and --build-b"},
      {{"--ref-b", "x", "--", "p"}, "needs both --ref-a and --ref-b"},
      {{"--a", "x", "--b", "y", "--ref-a", "x", "--ref-b", "y"},
       "expected one of --a, --build-a and --ref-a, found two"},
      {{"--build-a", "x", "--build-b", "y"}, "found no program"},
      {{"--build-a", "x", "--build-b", "y", "--build", "make", "--", "p"}, "it belongs to --ref-a"},
      {{"--a", "x", "--b", "y", "z"}, "quote each command"},
  };
  for (const auto& [words, text] : cases) {
    std::vector<std::string> all = {"compare"};
    all.insert(all.end(), words.begin(), words.end());
    const Finished run = memduel(place, all);
    EXPECT_EQ(run.status, 2) << text;
    EXPECT_THAT(run.err, HasSubstr(text));
  }
}

TEST(Defaults, DecideTwoHundredAgainstTwoHundredAndFourMebibytesInMinutes) {
  const Workplace place;
  const auto begin = std::chrono::steady_clock::now();
  const Finished run =
      memduel(place, {"compare", "--a", MEMDUEL_HOG " 200", "--b", MEMDUEL_HOG " 204",
                      "--max-minutes", "5", "--gate", "default", "--out", place.path("run")});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(5));
  EXPECT_EQ(run.status, 1) << run.err;
  const auto results = results_in(place.path("run"));
  for (const char* metric : {"peak_heap_and_mapped_bytes", "peak_rss_no_files_bytes"}) {
    const auto row = comparison(results, "all", metric);
    EXPECT_EQ(row.at("verdict"), "regressed") << metric;
    EXPECT_TRUE(row.at("gate")) << metric;
  }
  EXPECT_THAT(
      comparison(results, "all", "peak_heap_and_mapped_bytes").at("reason").get<std::string>(),
      HasSubstr("identical in all trials"));
  EXPECT_EQ(results.at("differences").at(0).at("bytes"), 4 << 20);
}

TEST(Defaults, InformOfAComparisonThatNamesNoGate) {
  const Workplace place;
  const std::vector<std::string> words = {
      "compare", "--a",   MEMDUEL_HOG " 20", "--b", MEMDUEL_HOG " 40", "--repeats",
      "5",       "--out", place.path("run")};
  const Finished run = memduel(place, words);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("Exit code 0: no gate was set. Set one, for instance --gate "
                                 "'peak_rss<=+5%'."));
  EXPECT_FALSE(results_in(place.path("run")).at("differences").empty())
      << "the stacks are shown either way";
  EXPECT_EQ(memduel(place, {"check", place.path("run").string()}).status, 1)
      << "check judges the default gates";
}

}  // namespace
}  // namespace memduel
