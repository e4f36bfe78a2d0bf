// Pages of mapped files are no memory that a default gate counts: the kernel can drop them. Shared
// memory, private copies of a file's pages and anonymous memory are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <string>

#include "support/memduel_program.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr double kBytesOfMebibyte = 1 << 20;
constexpr int kFileMebibytes = 40;

/// Writes the file, then has its bytes in the way that its first argument names.
constexpr const char* kHolder = R"(
import mmap, os, sys, time
way, path, size = sys.argv[1], sys.argv[2], 40 << 20
if way == "make":
    with open(path, "wb") as file:
        file.write(bytes(range(256)) * (size // 256))
        os.fsync(file.fileno())
    sys.exit(0)
def touch(pages):
    return sum(pages[at] for at in range(0, size, 4096))
def write(pages):
    for at in range(0, size, 4096):
        pages[at] = 1
with open(path, "r+b") as file:
    if way == "reads":
        while file.read(1 << 20):
            pass
    elif way == "maps":
        touch(mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ))
    elif way == "dirties":
        write(mmap.mmap(file.fileno(), size))
    elif way == "copies":
        write(mmap.mmap(file.fileno(), size, flags=mmap.MAP_PRIVATE))
    elif way == "keeps":
        kept = file.read()
    elif way == "shares":
        write(mmap.mmap(-1, size))
    elif way == "names":
        fd = os.memfd_create("kept")
        os.ftruncate(fd, size)
        write(mmap.mmap(fd, size))
)";

class MemoryOfFiles : public testing::Test {
 protected:
  void SetUp() override {
    struct statfs about{};
    statfs(place_.path("").c_str(), &about);
    if (about.f_type == TMPFS_MAGIC) GTEST_SKIP() << "the place of tests is a tmpfs";
    script_ = place_.file("holder.py", kHolder);
    Running make(place_, "/usr/bin/python3", {"-S", script_, "make", place_.path("data").string()});
    ASSERT_EQ(make.wait().status, 0);
  }

  Finished compare(const std::string& a, const std::string& b) {
    const auto command = [&](const std::string& way) {
      return "/usr/bin/python3 -S " + script_ + " " + way + " " + place_.path("data").string();
    };
    return memduel(place_, {"compare", "--a", command(a), "--b", command(b), "--gate", "default",
                            "--repeats", "6", "--out", place_.path(b).string()});
  }

  [[nodiscard]] json row(const std::string& b, const char* metric) const {
    return comparison(results_in(place_.path(b)), "all", metric);
  }

  void expect_that_a_gate_fails(const std::string& way) {
    const Finished run = compare("reads", way);
    EXPECT_EQ(run.status, 1) << run.out;
    const json memory = row(way, "peak_rss_no_files_bytes");
    EXPECT_EQ(memory.at("verdict"), "regressed");
    EXPECT_NEAR(
        memory.at("candidate_median").get<double>() - memory.at("baseline_median").get<double>(),
        kFileMebibytes * kBytesOfMebibyte, 2 * kBytesOfMebibyte);
  }

  Workplace place_;
  std::string script_;
};

TEST_F(MemoryOfFiles, OfAMappingFailsNoDefaultGateAndIsExplained) {
  const Finished run = compare("reads", "maps");
  EXPECT_EQ(run.status, 0) << run.out;
  EXPECT_EQ(row("maps", "peak_rss_bytes").at("verdict"), "regressed");
  EXPECT_FALSE(row("maps", "peak_rss_bytes").at("gate"));
  const json memory = row("maps", "peak_rss_no_files_bytes");
  EXPECT_TRUE(memory.at("gate"));
  EXPECT_NE(memory.at("verdict"), "regressed");
  const std::string warnings = results_in(place_.path("maps")).at("warnings").dump();
  EXPECT_THAT(warnings, HasSubstr("no gate covers all.peak_rss_bytes"));
  EXPECT_THAT(warnings,
              testing::ContainsRegex("40[.][0-9] MiB of it are pages of mapped files \\(data\\)"));
  EXPECT_THAT(run.out, HasSubstr("data (mapped file, reclaimable)"));
}

TEST_F(MemoryOfFiles, ThatAProgramWritesToTheFileFailsNone) {
  EXPECT_EQ(compare("reads", "dirties").status, 0);
}

TEST_F(MemoryOfFiles, ThatIsReadIntoTheHeapFailsOne) {
  expect_that_a_gate_fails("keeps");
}

TEST_F(MemoryOfFiles, ThatIsCopiedByWritesFailsOne) {
  expect_that_a_gate_fails("copies");
}

TEST_F(MemoryOfFiles, OfNoneButSharedFailsOne) {
  expect_that_a_gate_fails("shares");
  expect_that_a_gate_fails("names");
}

}  // namespace
}  // namespace memduel
