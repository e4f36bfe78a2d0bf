// The script of the CI jobs, from a clean clone of a project that is not ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "foreign_repository.h"
#include "util/file.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

class CiScript : public testing::Test {
 protected:
  /// In a fresh clone of the repository.
  int run(const std::string& arguments, const std::string& program = "out/ledger 1000") {
    output_of("git clone --quiet file://" + repository_.path().string() + " " +
              place_.path("clone").string());
    const std::string command = "cd " + place_.path("clone").string() +
                                " && MEMDUEL=" MEMDUEL_PROGRAM +
                                " GITHUB_STEP_SUMMARY=" + place_.path("step.md").string() +
                                " XDG_CACHE_HOME=" + place_.path("cache").string() +
                                " " MEMDUEL_SOURCES "/scripts/ci-memory.sh -S --build '" +
                                shell_quoted(ForeignRepository::quick_build()) + "' " + arguments +
                                " -- " + program + " >" + place_.path("out").string() + " 2>&1";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return read_file(place_.path("clone/memory-report/" + name));
  }
  [[nodiscard]] bool has(const std::string& name) const {
    return fs::exists(place_.path("clone/memory-report/" + name));
  }
  [[nodiscard]] std::string step_summary() const { return read_file(place_.path("step.md")); }
  [[nodiscard]] std::string said() const { return read_file(place_.path("out")); }

  static std::string shell_quoted(std::string text) {
    for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4)
      text.replace(at, 1, "'\\''");
    return text;
  }

  Workplace place_;
  ForeignRepository repository_{place_};
};

const std::string kHeapGate = "--repeats 3 --gate 'all.peak_heap_bytes<=+1%'";

TEST_F(CiScript, PassesASmallerBuffer) {
  static_cast<void>(repository_.commit("base"));
  repository_.set_buffer(6);
  static_cast<void>(repository_.commit("smaller buffer"));
  EXPECT_EQ(run(kHeapGate), 0) << said();
  EXPECT_THAT(step_summary(), AllOf(HasSubstr("### ✅ PASS: HEAD uses "), HasSubstr("% less "),
                                    HasSubstr("the gate on peak heap (limit +1%) passed")));
  EXPECT_EQ(step_summary(), file("summary.md"));
  EXPECT_THAT(file("junit.xml"), AllOf(HasSubstr("failures=\"0\""), HasSubstr("tests=\"1\"")));
  EXPECT_THAT(file("results.json"), HasSubstr("memduel.results/2"));
  EXPECT_TRUE(has("report.html"));
  EXPECT_THAT(said(), HasSubstr("This runner: "));
}

TEST_F(CiScript, FailsALargerBufferAndNamesTheFunction) {
  static_cast<void>(repository_.commit("base"));
  repository_.set_buffer(12);
  static_cast<void>(repository_.commit("larger buffer"));
  EXPECT_EQ(run(kHeapGate), 1) << said();
  EXPECT_THAT(
      step_summary(),
      AllOf(HasSubstr("### ❌ FAIL: HEAD uses "),
            HasSubstr(
                "| +4.00 MiB | ledger::Store::reserve\\_buffer (store.cpp:14), called from main")));
  EXPECT_THAT(file("junit.xml"), AllOf(HasSubstr("<failure"), HasSubstr("failures=\"1\"")));
}

TEST_F(CiScript, FailsALargerBufferByTheDefaultGates) {
  static_cast<void>(repository_.commit("base"));
  repository_.set_buffer(12);
  static_cast<void>(repository_.commit("larger buffer"));
  EXPECT_EQ(run("--repeats 5"), 1) << said();
  EXPECT_THAT(file("junit.xml"), HasSubstr("<failure"));
}

TEST_F(CiScript, LeavesTheGatesOfAConfig) {
  repository_.write("job.json",
                    R"({ "name": "job", "baseline": "one", "variants": [ { "name": "one" } ],
    "workload": { "kind": "command", "processes": [ { "role": "ledger", "argv": ["out/ledger", "10"] } ] },
    "gates": [ "all.peak_heap_bytes<=+900%" ] })");
  static_cast<void>(repository_.commit("base"));
  repository_.set_buffer(12);
  static_cast<void>(repository_.commit("larger buffer"));
  EXPECT_EQ(run("--repeats 3", "job.json"), 0) << said();
  EXPECT_THAT(file("junit.xml"), HasSubstr("tests=\"1\""));
}

TEST_F(CiScript, CannotMeasureABaseThatDoesNotBuild) {
  repository_.write("main.cpp", "#error <broken> & \"bad\"\n");
  static_cast<void>(repository_.commit("base"));
  fs::copy_file(MEMDUEL_FOREIGN "/main.cpp", repository_.path("main.cpp"),
                fs::copy_options::overwrite_existing);
  static_cast<void>(repository_.commit("repaired"));
  EXPECT_EQ(run(kHeapGate), 3) << said();
  EXPECT_THAT(step_summary(),
              AllOf(HasSubstr("could not measure (exit code 3)"), HasSubstr("does not build"),
                    HasSubstr("&lt;broken&gt;"), Not(HasSubstr("<broken>"))));
  EXPECT_THAT(file("junit.xml"), AllOf(HasSubstr("errors=\"1\""), HasSubstr("<error")));
  EXPECT_FALSE(has("results.json"));
}

TEST_F(CiScript, CannotMeasureABaseThatCrashes) {
  repository_.write("main.cpp", "int main() {\n  __builtin_trap();\n}\n");
  static_cast<void>(repository_.commit("base"));
  fs::copy_file(MEMDUEL_FOREIGN "/main.cpp", repository_.path("main.cpp"),
                fs::copy_options::overwrite_existing);
  static_cast<void>(repository_.commit("repaired"));
  EXPECT_EQ(run(kHeapGate), 3) << said();
  EXPECT_THAT(file("junit.xml"),
              AllOf(HasSubstr("errors=\"1\" skipped=\"0\""), HasSubstr("<error")));
}

TEST_F(CiScript, ReportsAnInconclusiveGateAsItsOwnStatus) {
  static_cast<void>(repository_.commit("base"));
  repository_.set_buffer(12);
  static_cast<void>(repository_.commit("larger buffer"));
  EXPECT_EQ(run("--repeats 3 --gate 'all.peak_rss_bytes<=+1%'"), 5) << said();
  EXPECT_THAT(step_summary(), HasSubstr("INCONCLUSIVE"));
  EXPECT_THAT(file("junit.xml"), AllOf(HasSubstr("<failure"), HasSubstr("failures=\"1\"")));
}

TEST_F(CiScript, PassesAnInconclusiveGateWhereAsked) {
  static_cast<void>(repository_.commit("base"));
  repository_.set_buffer(12);
  static_cast<void>(repository_.commit("larger buffer"));
  EXPECT_EQ(run("--on-inconclusive pass --repeats 3 --gate 'all.peak_rss_bytes<=+1%'"), 0)
      << said();
  EXPECT_THAT(step_summary(), HasSubstr("INCONCLUSIVE"));
  EXPECT_THAT(file("junit.xml"), HasSubstr("failures=\"0\"")) << "as the exit code is";
}

TEST_F(CiScript, MeasuresAChangeOfDocumentsWithAWarning) {
  static_cast<void>(repository_.commit("base"));
  repository_.write("README.md", "# better\n");
  static_cast<void>(repository_.commit("docs"));
  EXPECT_EQ(run(kHeapGate), 0) << said();
  EXPECT_THAT(step_summary(),
              AllOf(HasSubstr("(limit +1%) passed"), HasSubstr("are the same in both builds")));
}

TEST_F(CiScript, PassesACommitOfTheSameFilesAndSaysWhy) {
  static_cast<void>(repository_.commit("base"));
  static_cast<void>(repository_.git("commit --quiet --allow-empty --message again"));
  EXPECT_EQ(run(kHeapGate), 0) << said();
  EXPECT_THAT(step_summary(), HasSubstr("nothing was built differently"));
  EXPECT_THAT(file("junit.xml"), HasSubstr("name=\"nothing was built differently\""));
  EXPECT_FALSE(has("results.json"));
}

TEST_F(CiScript, HasNothingToCompareAFirstCommitWith) {
  static_cast<void>(repository_.commit("first"));
  EXPECT_EQ(run("--base 0000000000000000000000000000000000000000 " + kHeapGate), 0) << said();
  EXPECT_THAT(step_summary(), HasSubstr("nothing to compare with"));
}

TEST_F(CiScript, SaysThatABaseIsNotInTheClone) {
  static_cast<void>(repository_.commit("first"));
  EXPECT_EQ(run("--base 1111111111111111111111111111111111111111 " + kHeapGate), 3) << said();
  EXPECT_THAT(step_summary(), HasSubstr("fetch-depth: 0"));
}

TEST_F(CiScript, ComparesWithTheCommitThatTheBranchLeft) {
  const std::string left = repository_.commit("base");
  static_cast<void>(repository_.git("checkout --quiet -b feature"));
  repository_.write("README.md", "# better\n");
  static_cast<void>(repository_.commit("docs on a branch"));
  static_cast<void>(repository_.git("checkout --quiet main"));
  repository_.set_buffer(4);
  const std::string moved = repository_.commit("main went on");
  static_cast<void>(repository_.git("checkout --quiet feature"));
  EXPECT_EQ(run("--base " + moved + " " + kHeapGate), 0) << said();
  EXPECT_THAT(step_summary(), HasSubstr("are the same in both builds"))
      << "main's smaller buffer is not the branch's doing";
}

TEST(CompareBuildsScript, TakesDirectoriesFromWhereItIsCalled) {
  const Workplace place;
  fs::create_directory(place.path("ba"));
  fs::create_directory(place.path("bb"));
  const fs::path root = fs::canonical(place.path("."));
  EXPECT_EQ(output_of("cd " + root.string() +
                      " && MEMDUEL=echo " MEMDUEL_SOURCES "/scripts/compare-builds.sh ./ba ./bb"),
            "compare --build-a " + (root / "ba").string() + " --build-b " + (root / "bb").string() +
                " configs/quickstart.json");
}

/// As PyYAML reads it.
json yaml_file(const std::string& path) {
  return json::parse(output_of(
      "python3 -c 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))' <" +
      path));
}

/// Every text of a YAML document that runs commands.
std::string script_of(const json& node) {
  if (node.is_string()) return node.get<std::string>() + "\n";
  std::string text;
  for (const json& item : node) text += script_of(item);
  return text;
}

TEST(CiJobs, RunTheScriptWithoutAWritingToken) {
  const json github = yaml_file(MEMDUEL_SOURCES "/.github/workflows/memory.yml");
  EXPECT_EQ(github.at("permissions"), json({{"contents", "read"}}));
  std::string run;
  bool uploads = false;
  for (const json& step : github.at("jobs").at("duel").at("steps")) {
    if (step.contains("run")) run += script_of(step.at("run"));
    uploads = uploads || (step.contains("uses") && step.contains("if") &&
                          step.at("with").at("path") == "memory-report");
  }
  EXPECT_TRUE(uploads) << "also after a failure";
  EXPECT_THAT(run, AllOf(HasSubstr("scripts/ci-memory.sh"), HasSubstr("--max-minutes"),
                         HasSubstr("-eq 5"), Not(HasSubstr("token"))));

  const json comment = yaml_file(MEMDUEL_SOURCES "/.github/workflows/memory-comment.yml");
  EXPECT_EQ(comment.at("permissions").at("pull-requests"), "write");
  for (const json& step : comment.at("jobs").at("comment").at("steps"))
    EXPECT_FALSE(step.contains("run")) << "nothing of a fork's artifact is executed";

  const json gitlab = yaml_file(MEMDUEL_SOURCES "/.gitlab/memory.yml").at("memory");
  EXPECT_THAT(script_of(gitlab.at("script")), HasSubstr("scripts/ci-memory.sh"));
  EXPECT_EQ(gitlab.at("allow_failure").at("exit_codes").at(0), 5);
  const json& artifacts = gitlab.at("artifacts");
  EXPECT_EQ(artifacts.at("reports").at("junit"), "memory-report/junit.xml");
  EXPECT_EQ(artifacts.at("when"), "always");
}

}  // namespace
}  // namespace memduel
