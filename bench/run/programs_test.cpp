#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "allocator_arm.h"
#include "run/plan.h"
#include "support/small_experiment.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

class Programs : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(dir_ / "bin");
    write_file_atomically(dir_ / "bin/tool", "#!/bin/sh\n");
    fs::permissions(dir_ / "bin/tool", fs::perms::owner_all);
  }
  void TearDown() override {
    fs::remove_all(dir_);
    ::setenv("PATH", path_.c_str(), 1);
  }

  Experiment experiment_running(const std::string& program) {
    Experiment experiment;
    Variant arm;
    arm.name = "before";
    arm.env["PATH"] = "/nowhere:" + (dir_ / "bin").string();
    JobProcess process;
    process.role = "server";
    process.argv = {program};
    process.cwd = dir_.string();
    arm.processes = {process};
    experiment.variants = {arm};
    return experiment;
  }

  std::string path_ = getenv("PATH");
  // One per process: CTest runs cases side by side.
  fs::path dir_ = fs::path(testing::TempDir()) / ("memduel_programs_" + std::to_string(::getpid()));
};

TEST_F(Programs, AreHashedOncePerFile) {
  const auto hashes = program_hashes(experiment_running("tool"));
  EXPECT_EQ(hashes, (std::map<std::string, std::string>{
                        {(dir_ / "bin/tool").string(), sha256_hex("#!/bin/sh\n")}}));
}

TEST_F(Programs, AMissingOneIsNamedWithItsArmAndRole) {
  try {
    program_hashes(experiment_running("absent"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_EQ(error.message(),
              "variant before, role server: found no program \"absent\" in its PATH, /nowhere:" +
                  (dir_ / "bin").string() +
                  "\n  install it, or write a path relative to the process's cwd");
  }
}

/// A config in a file of its own folder.
class ProgramsOfAConfig : public Programs {
 protected:
  std::string refusal(const std::string& workload, const std::string& variant) {
    write_file_atomically(config_, R"({ "name": "job",
      "workload": { "kind": "command", )" +
                                       workload + R"( },
      "variants": [ { "name": "before" }, { "name": "after", )" +
                                       variant + R"( } ],
      "baseline": "before" })");
    try {
      program_hashes(load_experiment(config_));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.message();
    }
    return {};
  }

  const std::string kProcess = R"("processes": [ { "role": "server", "argv": ["env/bin/job"] } ])";
  fs::path config_ = dir_ / "job.json";
};

TEST_F(ProgramsOfAConfig, AMissingDirectoryIsNamedWithItsKey) {
  EXPECT_EQ(refusal(R"("cwd": "build/job", )" + kProcess, R"("env": { "A": "1" })"),
            config_.string() + ", line 2, $.workload.cwd: found no directory \"" +
                (dir_ / "build/job").string() +
                "\"\n  a relative path starts at the directory of the config");
  EXPECT_THAT(refusal(R"("cwd": ".", "processes": [ { "role": "server", "argv": ["sh"],
                        "cwd": "gone" } ])",
                      R"("env": { "A": "1" })"),
              testing::HasSubstr("$.workload.processes[0].cwd: found no directory"));
  EXPECT_THAT(
      refusal(R"("processes": [ { "role": "server", "argv": ["sh"] } ])", R"("cwd": "gone")"),
      testing::HasSubstr("$.variants[1].cwd: found no directory"));
  EXPECT_EQ(refusal(R"("processes": [ { "role": "server", "argv": ["sh"] } ])",
                    R"("cwd": "{trial_dir}/made")"),
            "");
  EXPECT_EQ(refusal(R"("prepare": [["true"]], "processes": [ { "role": "server", "argv": ["sh"],
                      "cwd": "made" } ])",
                    R"("env": { "A": "1" })"),
            "")
      << "prepare may make it";
}

TEST_F(ProgramsOfAConfig, AMissingProgramIsNamedWithItsKeyAndPath) {
  EXPECT_THAT(refusal(kProcess, R"("env": { "A": "1" })"),
              testing::StartsWith(config_.string() +
                                  ", line 2, $.workload.processes[0].argv: found no program "
                                  "\"env/bin/job\": " +
                                  (dir_ / "env/bin/job").string() +
                                  " is no executable file\n  a path in argv is relative to the "
                                  "process's cwd, " +
                                  dir_.string()));
  EXPECT_THAT(refusal(R"("processes": [ { "role": "server", "argv": ["sh"] } ])",
                      R"("argv": { "server": ["env/bin/job"] })"),
              testing::HasSubstr("$.variants[1].argv.server: found no program \"env/bin/job\""));
}

TEST_F(ProgramsOfAConfig, AProgramThatPrepareMayMakeIsLeftToTheTrial) {
  const std::string prepare = R"("prepare": [["true"]], "processes": [ { "role": "server", )";
  EXPECT_EQ(refusal(prepare + R"("argv": ["./job"] } ])", R"("env": { "A": "1" })"), "");
  EXPECT_EQ(refusal(prepare + R"("argv": ["./job"], "cwd": "made" } ])", R"("env": { "A": "1" })"),
            "");
  EXPECT_THAT(refusal(prepare + R"("argv": ["../job"] } ])", R"("env": { "A": "1" })"),
              testing::HasSubstr("$.workload.processes[0].argv: found no program \"../job\""));
  EXPECT_THAT(refusal(R"("prepare": [["./job"]], )" + kProcess, R"("env": { "A": "1" })"),
              testing::HasSubstr("found no program \"./job\""));
}

TEST_F(ProgramsOfAConfig, AnExampleThatWasNotSetUpIsAdvisedToBe) {
  write_file_atomically(dir_ / "setup.sh", "#!/bin/sh\n");
  const std::string advice = "\n  run " + (dir_ / "setup.sh").string() + " first";
  EXPECT_THAT(refusal(kProcess, R"("env": { "A": "1" })"), testing::HasSubstr(advice));
  EXPECT_THAT(refusal(R"("cwd": "build/job", )" + kProcess, R"("env": { "A": "1" })"),
              testing::HasSubstr(advice));
}

TEST_F(Programs, APathWithoutTheFolderOfASystemsProgramIsToldWhichToAdd) {
  Experiment experiment = experiment_running("sh");
  const std::string own = (dir_ / "bin").string();
  experiment.variants[0].env["PATH"] = own;
  const fs::path sh = *resolve_program("sh", "/", getenv("PATH"));
  EXPECT_EQ(error_of([&] { program_hashes(experiment); }).advice(),
            "it is " + sh.string() + " here: append its folder to the variant's PATH, " + own +
                ":" + sh.parent_path().string());
  experiment.variants[0].env["PATH"] = own + ":$PATH";
  EXPECT_THAT(error_of([&] { program_hashes(experiment); }).advice(),
              testing::StartsWith("$PATH is not expanded here"));
  experiment.variants[0].env["PATH"] = own + ":" + sh.parent_path().string();
  EXPECT_NO_THROW(program_hashes(experiment));
}

TEST_F(Programs, AVirtualenvWithoutAPythonProgramIsNotPassedOver) {
  const fs::path usual = dir_ / "usual";
  fs::create_directories(usual);
  write_file_atomically(usual / "pytest", "#!/usr/bin/env python3\n");
  fs::permissions(usual / "pytest", fs::perms::owner_all);
  ::setenv("PATH", (usual.string() + ":" + path_).c_str(), 1);
  Experiment experiment = experiment_running("pytest");
  const fs::path venv = dir_ / "venv";
  fs::create_directories(venv / "bin");
  const auto path_of = [&](const fs::path& bin) { return bin.string() + ":" + getenv("PATH"); };
  experiment.variants[0].env["PATH"] = path_of(venv / "bin");
  EXPECT_NO_THROW(program_hashes(experiment)) << "a folder like any other";
  write_file_atomically(venv / "pyvenv.cfg", "home = /usr/bin\n");
  const Error lacks = error_of([&] { program_hashes(experiment); });
  EXPECT_EQ(lacks.code(), ExitCode::usage);
  EXPECT_THAT(
      lacks.message(),
      testing::StartsWith("variant before, role server, PATH: found no program \"pytest\" in " +
                          (venv / "bin").string() + "; "));
  experiment.variants[0].processes[0].argv = {"sh"};
  EXPECT_NO_THROW(program_hashes(experiment)) << "a virtualenv has no shell of its own";
  fs::copy_file(dir_ / "bin/tool", venv / "bin/pytest");
  experiment.variants[0].processes[0].argv = {"pytest"};
  EXPECT_NO_THROW(program_hashes(experiment));
  experiment.variants[0].processes[0].cwd = dir_.string();
  experiment.variants[0].env["PATH"] = path_of("./venv/bin");
  EXPECT_NO_THROW(program_hashes(experiment)) << "relative to the process's own directory";
  experiment.variants[0].env["PATH"] = path_of(dir_ / "gone/bin");
  EXPECT_THAT(error_of([&] { program_hashes(experiment); }).message(),
              testing::HasSubstr("gone/bin, which is not a directory; "));
}

TEST_F(Programs, ScriptsStepsAndTemplatesAreHashedToo) {
  write_file_atomically(dir_ / "job.sh", "echo");
  write_file_atomically(dir_ / "conf.in", "port");
  Experiment experiment = experiment_running("sh");
  experiment.variants[0].env["PATH"] = getenv("PATH");
  experiment.variants[0].processes[0].argv = {"sh", "-e", "job.sh", "{seed}"};
  experiment.config.workload.job.cwd = dir_.string();
  experiment.config.workload.job.prepare = {{"./bin/tool"}};
  experiment.config.workload.job.templates = {
      {(dir_ / "conf.in").string(), "", "{trial_dir}/conf"}};
  const auto hashes = program_hashes(experiment);
  EXPECT_EQ(hashes.at((dir_ / "job.sh").string()), sha256_hex("echo"));
  EXPECT_EQ(hashes.at((dir_ / "conf.in").string()), sha256_hex("port"));
  EXPECT_TRUE(hashes.contains((dir_ / "bin/tool").string()));
  fs::remove(dir_ / "conf.in");
  EXPECT_EQ(error_of([&] { program_hashes(experiment); }).code(), ExitCode::io);
}

TEST_F(Programs, AProgramThatTheJobMakesIsNotLookedFor) {
  Experiment experiment = experiment_running("./built");
  experiment.variants[0].processes[0].cwd = "{trial_dir}";
  EXPECT_TRUE(program_hashes(experiment).empty());
}

TEST_F(Programs, ArmsThatRunTheSameFileUnderTwoNamesAreRefused) {
  Experiment experiment = experiment_running("tool");
  experiment.variants.push_back(experiment.variants[0]);
  experiment.variants[1].name = "after";
  experiment.variants[1].processes[0].argv = {(dir_ / "bin/tool").string()};
  EXPECT_THAT(error_of([&] { program_hashes(experiment); }).message(),
              testing::HasSubstr("the variants \"before\" and \"after\" run the same program"));
  experiment.variants[1].processes[0].argv.emplace_back("--fast");
  EXPECT_NO_THROW(program_hashes(experiment));
}

TEST_F(Programs, AnotherAllocatorIsADifferenceAndItsLibraryIsHashed) {
  Experiment experiment = experiment_running("tool");
  experiment.variants.push_back(experiment.variants[0]);
  experiment.variants[1].name = "after";
  experiment.variants[1].allocator = Allocator::jemalloc;
  const auto hashes = program_hashes(experiment);
  EXPECT_TRUE(hashes.contains(allocator_library(Allocator::jemalloc).string()));
  EXPECT_FALSE(warning_of_equal_contents(experiment));
}

TEST_F(Programs, EqualContentsUnderTwoPathsAreAWarning) {
  Experiment experiment = experiment_running("tool");
  experiment.variants.push_back(experiment.variants[0]);
  experiment.variants[1].name = "after";
  fs::copy_file(dir_ / "bin/tool", dir_ / "bin/other");
  experiment.variants[1].processes[0].argv = {"other"};
  EXPECT_NO_THROW(program_hashes(experiment));
  ASSERT_TRUE(warning_of_equal_contents(experiment));
  EXPECT_EQ(warning_of_equal_contents(experiment)->code, "variants_have_equal_contents");
  write_file_atomically(dir_ / "pyvenv.cfg", "home = /usr/bin\n");
  EXPECT_FALSE(warning_of_equal_contents(experiment)) << "virtualenvs differ in their packages";
  fs::remove(dir_ / "pyvenv.cfg");
  write_file_atomically(dir_ / "bin/other", "#!/bin/sh\nexit 0\n");
  EXPECT_FALSE(warning_of_equal_contents(experiment));
}

TEST_F(Programs, ThoseThatHaveOthersRunElsewhereAreAWarning) {
  Experiment experiment = experiment_running("tool");
  const auto message = [&](const Argv& argv) {
    experiment.variants[0].processes[0].argv = argv;
    const auto warning = warning_of_programs_elsewhere(experiment);
    return warning ? warning->message : std::string();
  };
  EXPECT_THAT(message({"docker", "run", "image"}),
              testing::StartsWith("docker runs a program in a daemon"));
  EXPECT_THAT(message({"sudo", "-E", "timeout", "60", "/usr/bin/ssh", "host", "job"}),
              testing::StartsWith("ssh "));
  EXPECT_THAT(message({"env", "A=1", "systemd-run", "job"}), testing::StartsWith("systemd-run "));
  EXPECT_EQ(message({"python3", "docker"}), "") << "an argument";
  EXPECT_EQ(message({"./docker-sort", "x"}), "");
}

class PythonSettings : public TestFolder {
 protected:
  PythonSettings() {
    // What the tests' own environment has would be inherited.
    ::unsetenv("PYTHONHASHSEED");
    ::unsetenv("OMP_NUM_THREADS");
  }

  Experiment running(const std::string& program, const std::map<std::string, std::string>& env) {
    Experiment experiment;
    Variant arm;
    arm.name = "before";
    JobProcess process;
    process.role = "server";
    process.argv = {program};
    process.cwd = folder_;
    process.env = env;
    arm.processes = {process};
    experiment.variants = {arm};
    return experiment;
  }

  std::string script(const std::string& first_line) {
    const auto file = folder_ / "job";
    write_file_atomically(file, first_line + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }
};

TEST_F(PythonSettings, NameTheRolesAndWhatTheyLack) {
  const std::string python = script("#!/usr/bin/env python3");
  EXPECT_EQ(
      unpinned_python(running(python, {})),
      "PYTHONHASHSEED and OMP_NUM_THREADS are not set for server, so results may vary between "
      "trials");
  EXPECT_EQ(unpinned_python(running(python, {{"PYTHONHASHSEED", "0"}})),
            "OMP_NUM_THREADS is not set for server, so results may vary between trials");
  EXPECT_EQ(unpinned_python(running(python, {{"PYTHONHASHSEED", "0"}, {"OMP_NUM_THREADS", "1"}})),
            std::nullopt);
  EXPECT_NE(
      unpinned_python(running(python, {{"PYTHONHASHSEED", "random"}, {"OMP_NUM_THREADS", "1"}})),
      std::nullopt);
}

TEST_F(PythonSettings, OtherProgramsAreNoneOfTheirs) {
  EXPECT_EQ(unpinned_python(running(script("#!/bin/sh"), {})), std::nullopt);
  EXPECT_EQ(unpinned_python(running("/no/such/program", {})), std::nullopt);
}

}  // namespace
}  // namespace memduel
