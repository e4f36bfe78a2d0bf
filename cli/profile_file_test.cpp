#include "cli/profile_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/scratch_directory.h"

namespace memduel::cli {
namespace {

TEST(ProfileFile, IsNeverReplacedByItsOwnPage) {
  const ScratchDirectory scratch(std::filesystem::temp_directory_path(), "memduel-test");
  const std::filesystem::path profile = scratch.path() / "a.mdp";
  std::ofstream(profile) << "x";
  std::filesystem::create_symlink(profile, scratch.path() / "link.html");
  std::filesystem::create_hard_link(profile, scratch.path() / "same.html");
  for (const char* other : {"a.mdp", "link.html", "same.html"})
    EXPECT_THROW(refuse_to_replace(profile, scratch.path() / other), Error) << other;
  EXPECT_NO_THROW(refuse_to_replace(profile, scratch.path() / "a.html"));
}

TEST(ProfileFile, WithoutAKindTheProfileDecides) {
  EXPECT_FALSE(kind_from(""));
  EXPECT_EQ(kind_from("live"), ProfileKind::live);
  EXPECT_THROW(kind_from("largest"), Error);
}

}  // namespace
}  // namespace memduel::cli
