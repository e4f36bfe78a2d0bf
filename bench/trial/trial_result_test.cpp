#include "trial_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

class WrapperScript : public testing::Test {
 protected:
  fs::path executable(const std::string& name, const std::string& text) const {
    const fs::path file = place_.path() / name;
    std::ofstream(file) << text;
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }

  ProcessSpec command(const std::vector<std::string>& argv) const {
    ProcessSpec spec;
    spec.role = "command";
    spec.argv = argv;
    spec.cwd = place_.path();
    spec.env["PATH"] = place_.path().string() + ":/usr/bin:/bin";
    return spec;
  }

  static HeapCounters image(std::int64_t pid, const fs::path& program) {
    HeapCounters counters;
    counters.pid = pid;
    counters.program = program;
    return counters;
  }

 private:
  ScratchDirectory place_{testing::TempDir(), "wrapper-script"};
};

// As pyenv's shims do: env, bash, a child, and then the interpreter in the shim's process.
TEST_F(WrapperScript, NamesTheProgramThatItExecutesInTheEnd) {
  const fs::path shim = executable("python3", "#!/usr/bin/env bash\nexec real\n");
  const fs::path real = executable("real",
                                   "\x7f"
                                   "ELF");
  const std::vector<HeapCounters> images = {image(7, "/usr/bin/env"), image(7, "/usr/bin/bash"),
                                            image(8, "/usr/bin/sed"), image(7, real)};
  const auto note = program_behind_script(command({"python3", "train.py"}), images);
  ASSERT_TRUE(note);
  EXPECT_EQ(note->code, "program_behind_script");
  EXPECT_EQ(note->message, "python3 is a script, " + shim.string() + ", that starts " +
                               real.string() + "; its memory and time are in all numbers");
  EXPECT_TRUE(program_behind_script(command({"env", "A=1", "./python3"}), images));
}

TEST_F(WrapperScript, SaysNothingOfAnInterpreterThatRunsToTheEnd) {
  executable("train.py", "#!/usr/bin/env python9\n");
  const fs::path python = executable("python9",
                                     "\x7f"
                                     "ELF");
  executable("loop.sh", "#!/bin/sh\n/bin/true\n");
  EXPECT_FALSE(
      program_behind_script(command({"./train.py"}), {image(7, "/usr/bin/env"), image(7, python)}));
  EXPECT_FALSE(program_behind_script(
      command({"./loop.sh"}), {image(7, fs::canonical("/bin/sh")), image(8, "/usr/bin/true")}))
      << "its children are no program in its place";
}

// The interpreter of a script may itself be a script: python3 of a `#!` line under pyenv.
TEST_F(WrapperScript, FollowsInterpretersThatAreScripts) {
  executable("train.py", "#!/usr/bin/env python9\n");
  executable("python9", "#!/bin/sh\nexec real\n");
  const fs::path real = executable("real",
                                   "\x7f"
                                   "ELF");
  EXPECT_TRUE(program_behind_script(command({"./train.py"}),
                                    {image(7, fs::canonical("/bin/sh")), image(7, real)}));
}

TEST_F(WrapperScript, SaysNothingOfProgramsThatThePersonNamed) {
  const fs::path real = executable("real",
                                   "\x7f"
                                   "ELF");
  EXPECT_FALSE(program_behind_script(command({"./real"}), {image(7, real)}));
  EXPECT_FALSE(program_behind_script(command({"env", "A=1", "./real"}),
                                     {image(7, "/usr/bin/env"), image(7, real)}));
  EXPECT_FALSE(program_behind_script(command({"sh", "-c", "exec ./real"}),
                                     {image(7, "/usr/bin/dash"), image(7, real)}));
  EXPECT_FALSE(program_behind_script(command({"./real"}), {}));
}

}  // namespace
}  // namespace memduel
