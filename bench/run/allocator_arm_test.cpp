#include "allocator_arm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/small_experiment.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;

ProcessSpec process_with(std::map<std::string, std::string> env) {
  ProcessSpec process;
  process.role = "server";
  process.env = std::move(env);
  return process;
}

TEST(AllocatorArm, PreloadsTheLibraryBeforeWhatWasThereAndTunesIt) {
  ProcessSpec process = process_with({{"LD_PRELOAD", "/opt/own.so"}});
  preload_allocator(process, Allocator::jemalloc, "/opt/inherited.so");
  EXPECT_EQ(process.env.at("LD_PRELOAD"),
            allocator_library(Allocator::jemalloc).string() + ":/opt/own.so");
  EXPECT_EQ(process.env.at("MALLOC_CONF"), "dirty_decay_ms:5000,muzzy_decay_ms:5000");
  ProcessSpec other = process_with({});
  preload_allocator(other, Allocator::tcmalloc, "/opt/inherited.so");
  EXPECT_EQ(other.env.at("LD_PRELOAD"),
            allocator_library(Allocator::tcmalloc).string() + ":/opt/inherited.so");
  EXPECT_EQ(other.env.at("TCMALLOC_RELEASE_RATE"), "10");
}

TEST(AllocatorArm, AVariableOfTheProcessWinsOverTheTuning) {
  ProcessSpec process = process_with({{"MALLOC_ARENA_MAX", "8"}});
  preload_allocator(process, Allocator::glibc, "");
  EXPECT_EQ(process.env, (std::map<std::string, std::string>{{"MALLOC_ARENA_MAX", "8"},
                                                             {"MALLOC_MMAP_THRESHOLD_", "131072"}}))
      << "glibc needs no preload";
}

TEST(AllocatorArm, TheWitnessComesBeforeAllElse) {
  ProcessSpec process = process_with({{"LD_PRELOAD", "/a.so:/b.so"}});
  require_allocator(process, Allocator::mimalloc, "", "/run/trials/000001");
  EXPECT_THAT(process.env.at("LD_PRELOAD"), EndsWith("/lib/libmemduel_witness.so:/a.so:/b.so"));
  EXPECT_EQ(process.env.at("MEMDUEL_WITNESS"), "/run/trials/000001/witness/server");
  ASSERT_TRUE(process.allocator);
  EXPECT_EQ(process.allocator->name, "mimalloc");
  EXPECT_EQ(process.allocator->library, allocator_library(Allocator::mimalloc));
  EXPECT_EQ(process.allocator->witness, "/run/trials/000001/witness/server");
}

class FindLibrary : public TestFolder {};

TEST_F(FindLibrary, LooksInDirectoriesBeforeTheLinkersCache) {
  fs::create_directories(folder_ / "a");
  fs::create_directories(folder_ / "b");
  write_file_atomically(folder_ / "b/libx.so.2", "");
  const std::string cache =
      "2 libs found in cache\n\tlibx.so.2 (libc6) => /lib32/libx.so.2\n\tlibx.so.2 (libc6,x86-64) "
      "=> " +
      (folder_ / "b/libx.so.2").string() + "\n";
  EXPECT_EQ(find_library({"libx.so.2"}, {folder_ / "a", folder_ / "b"}, ""),
            folder_ / "b/libx.so.2");
  EXPECT_EQ(find_library({"libx.so.2"}, {folder_ / "a"}, ""), std::nullopt);
  EXPECT_EQ(find_library({"libx.so.2"}, {folder_ / "a"}, cache), folder_ / "b/libx.so.2")
      << "the 64-bit one";
  EXPECT_EQ(find_library({"libx.so"}, {}, cache), std::nullopt);
  write_file_atomically(folder_ / "a/libx.so.1", "");
  EXPECT_EQ(find_library({"libx.so.2", "libx.so.1"}, {folder_ / "a", folder_ / "b"}, ""),
            folder_ / "b/libx.so.2")
      << "the better name, wherever it lies";
}

TEST(AllocatorArm, AMissingLibraryIsNamedWithItsPackage) {
  const Error error = error_of([] { checked_library(Allocator::tcmalloc, std::nullopt); });
  EXPECT_EQ(error.code(), ExitCode::cannot_measure);
  EXPECT_EQ(error.message(),
            "allocator tcmalloc is not installed: found no libtcmalloc_minimal.so.4 and no "
            "libtcmalloc.so.4\n  "
            "install Debian's package libtcmalloc-minimal4");
  for (const char* path : {"/opt/my lib/x.so", "/opt/a:b/x.so"})
    EXPECT_THAT(error_of([&] { checked_library(Allocator::jemalloc, path); }).message(),
                HasSubstr("LD_PRELOAD splits"));
}

TEST(AllocatorArm, EveryLibraryThatIsOfferedIsInstalledHere) {
  for (const Allocator allocator : {Allocator::jemalloc, Allocator::tcmalloc, Allocator::mimalloc})
    EXPECT_TRUE(fs::exists(allocator_library(allocator)));
  EXPECT_TRUE(allocator_library(Allocator::glibc).empty());
}

}  // namespace
}  // namespace memduel
