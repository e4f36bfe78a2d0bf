#include "base/why_not_run.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/file.h"
#include "base/scratch_directory.h"

namespace memduel {
namespace {

TEST(WhyNotRun, NamesTheInterpreterThatIsMissing) {
  const ScratchDirectory place(::testing::TempDir(), "why-not-run");
  const std::string script = place.path() / "script";
  write_file_atomically(script, "#! /nonexistent/python3 -u\nprint()\n");
  EXPECT_EQ(why_not_run(script, ENOENT),
            "its first line names the interpreter /nonexistent/python3, which is not there");
  write_file_atomically(script, "#!/bin/sh\r\ntrue\r\n");
  EXPECT_EQ(why_not_run(script, ENOENT),
            "its first line names the interpreter /bin/sh, which is not there: the line ends as in "
            "Windows");
  write_file_atomically(script,
                        "\x7f"
                        "ELF");
  EXPECT_EQ(why_not_run(script, ENOENT),
            "its dynamic linker is not there: it was built for another system");
}

TEST(WhyNotRun, IsTheSystemsWordsElsewhere) {
  EXPECT_EQ(why_not_run("no-such-program", ENOENT), "No such file or directory");
  EXPECT_EQ(why_not_run("/no/such/program", ENOENT), "No such file or directory");
  EXPECT_EQ(why_not_run("/bin/sh", EACCES), "Permission denied");
}

}  // namespace
}  // namespace memduel
