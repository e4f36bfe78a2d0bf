#include "base/sha256.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/scratch_directory.h"

namespace memduel {
namespace {

// FIPS 180-4 examples.
constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256, MatchesThePublishedVectors) {
  EXPECT_EQ(sha256_hex("abc"), kAbc);
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, OfAFileEqualsOfItsBytes) {
  const ScratchDirectory scratch(testing::TempDir(), "sha256");
  const std::filesystem::path path = scratch.path() / "abc";
  write_file_atomically(path, "abc");
  EXPECT_EQ(sha256_hex_of_file(path), kAbc);
  std::filesystem::remove(path);
  EXPECT_THROW(sha256_hex_of_file(path), Error);
}

}  // namespace
}  // namespace memduel
