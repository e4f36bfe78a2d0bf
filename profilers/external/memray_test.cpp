// Captures of memray in a directory, read by stand-ins for the Python that wrote them.
// tests/integration/memray_test.cpp runs memray itself.
#include "memray.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class MemrayCaptures : public testing::Test {
 protected:
  /// A Python that runs read_capture.py CAPTURE FILE as this shell script does.
  [[nodiscard]] fs::path python(const std::string& script) const {
    const fs::path file = folder_.path() / "python3";
    write_file_atomically(file, "#!/bin/sh\n" + script + "\n");
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
  void leave(const std::string& name) const { write_file_atomically(folder_.path() / name, name); }
  void link(const std::string& name, const fs::path& python) const {
    fs::create_symlink(python, folder_.path() / (name + ".python"));
  }
  [[nodiscard]] KeptProfiles keep() const {
    return keep_captures(folder_.path(), [&](const LeftProfile& left) {
      return folder_.path() / ("kept" + std::to_string(left.pid));
    });
  }

  ScratchDirectory folder_{testing::TempDir(), "memray captures"};
};

TEST_F(MemrayCaptures, EachIsReadByThePythonThatWroteIt) {
  leave("900-7");
  leave("900-7.12");
  link("900-7", python(R"(cp "$2" "$3")"));
  const KeptProfiles kept = keep();
  EXPECT_THAT(kept.missing, IsEmpty());
  EXPECT_EQ(read_file(folder_.path() / "kept7"), "900-7");
  EXPECT_EQ(read_file(folder_.path() / "kept12"), "900-7.12") << "a forked child";
}

TEST_F(MemrayCaptures, AForkedChildThatExecutedPythonHasOneProfile) {
  leave("900-7");
  leave("900-7.12");
  leave("901-12");
  const fs::path reader = python(R"(cp "$2" "$3")");
  link("900-7", reader);
  link("901-12", reader);
  const KeptProfiles kept = keep();
  ASSERT_EQ(kept.files.size(), 2U);
  EXPECT_EQ(kept.files[1].of.image, 2U);
  EXPECT_EQ(read_file(folder_.path() / "kept12"), "901-12");
}

TEST_F(MemrayCaptures, OneThatMemrayCannotReadIsNamedWithTheReason) {
  leave("900-7");
  link("900-7", python("echo 'Traceback:\nOSError: incompatible with this version' >&2; exit 1"));
  const KeptProfiles kept = keep();
  EXPECT_THAT(kept.files, IsEmpty());
  EXPECT_THAT(kept.missing, ElementsAre("memray cannot read its capture of process 7: OSError: "
                                        "incompatible with this version"));
}

TEST_F(MemrayCaptures, AnInterpreterWithoutMemrayIsNamedOnceWithTheCommandThatInstallsIt) {
  link("900-7", "/opt/env/bin/python");
  link("901-8", "/opt/env/bin/python");
  EXPECT_THAT(keep().missing,
              ElementsAre("processes of /opt/env/bin/python were not recorded: memray is not "
                          "installed there; /opt/env/bin/python -m pip install memray"));
}

TEST_F(MemrayCaptures, AProgramThatStartedNoPythonLeftNone) {
  EXPECT_THAT(keep().missing, ElementsAre(HasSubstr("it started no Python")));
}

}  // namespace
}  // namespace memduel
