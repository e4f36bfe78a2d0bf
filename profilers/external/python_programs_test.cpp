#include "external/python_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "model/run_directory.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

/// bin/python3.11, a link python to it, and scripts beside them.
class PythonPrograms : public testing::Test {
 protected:
  PythonPrograms() {
    // What `python -c "import memray"` does where memray is not.
    program("python3.11",
            "#!/bin/sh\necho 'Traceback:\nModuleNotFoundError: No module' >&2; exit 1");
    fs::create_symlink(python(), bin() / "python");
  }

  [[nodiscard]] fs::path bin() const { return folder_.path(); }
  [[nodiscard]] fs::path python() const { return bin() / "python3.11"; }

  fs::path program(const std::string& name, const std::string& text) const {
    const fs::path file = bin() / name;
    std::ofstream(file) << text;
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }

  [[nodiscard]] PlacedCommand command(std::vector<std::string> argv) const {
    return {"role server", std::move(argv), bin(), {{"PATH", bin().string() + ":/usr/bin:/bin"}}};
  }

  [[nodiscard]] std::optional<fs::path> interpreter(std::vector<std::string> argv) const {
    return interpreter_of(command(std::move(argv)));
  }

  ScratchDirectory folder_{fs::temp_directory_path(), "python-programs"};
};

TEST_F(PythonPrograms, ACommandNamesItsInterpreter) {
  EXPECT_EQ(interpreter({python(), "train.py"}), python());
  EXPECT_EQ(interpreter({"python3.11", "-m", "train"}), python());
  EXPECT_EQ(interpreter({"./python", "-c", "pass"}), bin() / "python");
  EXPECT_EQ(interpreter({"env", "A=1", "B=2", "python3.11", "train.py"}), python());
}

TEST_F(PythonPrograms, AScriptNamesItsInterpreter) {
  const std::string text = "\nimport sys\n";
  EXPECT_EQ(interpreter({program("a", "#!" + python().string() + text)}), python());
  EXPECT_EQ(interpreter({program("b", "#! /usr/bin/env python3.11" + text)}), python());
  EXPECT_EQ(interpreter({program("c", "#!/usr/bin/env -S python3.11 -X dev" + text)}), python());
  EXPECT_EQ(interpreter({program("d", "#!/bin/sh\n'''exec' \"" + python().string() +
                                          "\" \"$0\" \"$@\"\n' '''" + text)}),
            python());
}

TEST_F(PythonPrograms, AnotherProgramHasNone) {
  EXPECT_EQ(interpreter({"/bin/true"}), std::nullopt);
  EXPECT_EQ(interpreter({"sh", "-c", "python3.11 train.py"}), std::nullopt);
  EXPECT_EQ(interpreter({program("e", "#!/bin/sh\nexec python3.11 train.py")}), std::nullopt);
  EXPECT_EQ(interpreter({"env"}), std::nullopt);
  EXPECT_EQ(interpreter({"no-such-program"}), std::nullopt);
}

TEST_F(PythonPrograms, OneWithoutThePackageIsRefusedWithTheCommandThatInstallsIt) {
  const std::vector<PlacedCommand> commands = {command({"python3.11", "train.py"})};
  try {
    require_python_package(tracer_named("memray"), commands);
    ADD_FAILURE() << "it has no memray";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_measure);
    EXPECT_EQ(error.where(), "role server");
    EXPECT_THAT(
        error.message(),
        HasSubstr(python().string() + " does not have memray: ModuleNotFoundError: No module"));
    EXPECT_EQ(error.advice(), python().string() + " -m pip install memray");
  }
}

TEST_F(PythonPrograms, OneThatIsNoPythonIsRefused) {
  const std::vector<PlacedCommand> commands = {command({"/bin/true"})};
  try {
    require_python_package(tracer_named("memray"), commands);
    ADD_FAILURE() << "it is no Python";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.message(), HasSubstr("memray records Python programs, found /bin/true"));
  }
}

TEST_F(PythonPrograms, OneThatHasThePackageIsRunOnce) {
  program("python3.11", "#!/bin/sh\necho \"$@\" >> calls");
  const std::vector<PlacedCommand> commands = {command({python(), "a.py"}),
                                               command({"python3.11", "b.py"})};
  const fs::path here = fs::current_path();
  fs::current_path(bin());
  require_python_package(tracer_named("memray"), commands);
  fs::current_path(here);
  EXPECT_EQ(read_file(bin() / "calls"), "-c import memray\n");
}

}  // namespace
}  // namespace memduel
