#include "experiment/programs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

class Programs : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(dir_ / "bin");
    write_file_atomically(dir_ / "bin/tool", "#!/bin/sh\n");
    fs::permissions(dir_ / "bin/tool", fs::perms::owner_all);
    write_file_atomically(dir_ / "bin/text", "not executable");
  }
  void TearDown() override { fs::remove_all(dir_); }

  Experiment experiment_running(const std::string& program) {
    Experiment experiment;
    Arm arm;
    arm.name = "before";
    arm.env["PATH"] = "/nowhere:" + (dir_ / "bin").string();
    arm.processes = {{{"role", "server"}, {"argv", {program}}, {"cwd", dir_.string()}}};
    experiment.arms = {arm};
    return experiment;
  }

  // One per process: CTest runs cases side by side.
  fs::path dir_ = fs::path(testing::TempDir()) / ("memduel_programs_" + std::to_string(::getpid()));
};

TEST_F(Programs, AreFoundInPathAndBesideTheDirectory) {
  const std::string path = "/nowhere:" + (dir_ / "bin").string();
  EXPECT_EQ(resolve_program("tool", "/", path), dir_ / "bin/tool");
  EXPECT_EQ(resolve_program("./bin/tool", dir_, ""), dir_ / "bin/tool");
  EXPECT_EQ(resolve_program("text", "/", path), std::nullopt);
  EXPECT_EQ(resolve_program("absent", "/", path), std::nullopt);
}

TEST_F(Programs, AreHashedOncePerFile) {
  const auto hashes = program_hashes(experiment_running("tool"), std::nullopt);
  EXPECT_EQ(hashes, (std::map<std::string, std::string>{
                        {(dir_ / "bin/tool").string(), sha256_hex("#!/bin/sh\n")}}));
}

TEST_F(Programs, AMissingOneIsNamedWithItsArmAndRole) {
  try {
    program_hashes(experiment_running("absent"), std::nullopt);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_EQ(error.message().substr(0, 50),
              "arm before, role server: no program \"absent\"\n  an ");
  }
}

}  // namespace
}  // namespace memduel
