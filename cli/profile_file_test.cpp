#include "profile_file.h"

#include <gtest/gtest.h>

#include "util/error.h"

namespace memduel::cli {
namespace {

TEST(ProfileFile, WithoutAKindTheProfileDecides) {
  EXPECT_FALSE(kind_from(""));
  EXPECT_EQ(kind_from("live"), ProfileKind::live);
  EXPECT_THROW(kind_from("largest"), Error);
}

}  // namespace
}  // namespace memduel::cli
