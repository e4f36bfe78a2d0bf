#include "readers/profile_reader.h"

#include <gtest/gtest.h>

#include "profile/outputs.h"
#include "test_golden_files.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing_golden::golden_file;

std::string content_of(const Profile& profile) {
  return flame_data(profile, nullptr, {.names = {"shapes"}});
}

TEST(ProfileReader, ReadsEachFileOnce) {
  const ScratchDirectory place(testing::TempDir(), "profile-reader");
  const std::filesystem::path file = place.path() / "shapes.mdp";
  std::filesystem::copy_file(golden_file("shapes.mdp"), file);
  const std::string expected = content_of(read_profile(file));
  ProfileReader reader;
  EXPECT_EQ(content_of(reader.read(file)), expected);
  std::filesystem::remove(file);
  EXPECT_EQ(content_of(reader.read(file)), expected);
  EXPECT_THROW(ProfileReader().read(file), Error);
}

TEST(ProfileReader, ReadsAFileThatCouldNotBeReadBefore) {
  const ScratchDirectory place(testing::TempDir(), "profile-reader");
  const std::filesystem::path file = place.path() / "shapes.mdp";
  ProfileReader reader;
  EXPECT_THROW(reader.read(file), Error);
  std::filesystem::copy_file(golden_file("shapes.mdp"), file);
  EXPECT_FALSE(reader.read(file).sites.empty());
}

}  // namespace
}  // namespace memduel
