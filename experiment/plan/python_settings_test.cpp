#include "experiment/plan/python_settings.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "experiment/config/test_support.h"

namespace memduel {
namespace {

class PythonSettings : public TestFolder {
 protected:
  PythonSettings() {
    // What the tests' own environment has would be inherited.
    ::unsetenv("PYTHONHASHSEED");
    ::unsetenv("OMP_NUM_THREADS");
  }

  Experiment running(const std::string& program, const std::map<std::string, std::string>& env) {
    Experiment experiment;
    Arm arm;
    arm.name = "before";
    JobProcess process;
    process.role = "server";
    process.argv = {program};
    process.cwd = folder_;
    process.env = env;
    arm.processes = {process};
    experiment.arms = {arm};
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
  EXPECT_EQ(unpinned_python(running(python, {})),
            "server runs Python without PYTHONHASHSEED (the order of sets differs from run to "
            "run) and OMP_NUM_THREADS (sums depend on the number of threads)");
  EXPECT_EQ(unpinned_python(running(python, {{"PYTHONHASHSEED", "0"}})),
            "server runs Python without OMP_NUM_THREADS (sums depend on the number of threads)");
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
