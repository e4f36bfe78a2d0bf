#include "profile_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "readers/read_profile.h"
#include "util/error.h"

namespace memduel::cli {
namespace {

TEST(ProfileFile, WithoutAKindTheProfileDecides) {
  EXPECT_FALSE(kind_from(""));
  EXPECT_EQ(kind_from("live"), ProfileKind::live);
  EXPECT_THROW(kind_from("largest"), Error);
}

TEST(ProfileFile, HelpNamesEveryFormat) {
  for (const ProfileFormat& format : profile_formats())
    EXPECT_THAT(kProfileNotes, testing::HasSubstr(format.name.substr(0, format.name.find(' '))));
}

}  // namespace
}  // namespace memduel::cli
