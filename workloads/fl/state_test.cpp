#include <gtest/gtest.h>

#include <limits>

#include "fl/models.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

State two_tensors(float first) {
  return {{"w", torch::tensor(std::vector<float>{first, 2})},
          {"n", torch::tensor(std::int64_t{5}, torch::kLong)}};
}

TEST(CompareStates, EqualStatesAreBitIdentical) {
  const StateDifference difference = compare_states(two_tensors(1), two_tensors(1));
  EXPECT_TRUE(difference.bit_identical);
  EXPECT_EQ(difference.max_abs_diff, 0.0);
}

TEST(CompareStates, LargestDifferenceIsFound) {
  const StateDifference difference = compare_states(two_tensors(1), two_tensors(1.25F));
  EXPECT_FALSE(difference.bit_identical);
  EXPECT_EQ(difference.max_abs_diff, 0.25);
}

// +0 and -0 are equal numbers and different bits.
TEST(CompareStates, SignedZerosDifferInBitsOnly) {
  const StateDifference difference = compare_states(two_tensors(0.0F), two_tensors(-0.0F));
  EXPECT_FALSE(difference.bit_identical);
  EXPECT_EQ(difference.max_abs_diff, 0.0);
}

TEST(CompareStates, NotANumberHasNoLargestDifference) {
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(compare_states(two_tensors(1), two_tensors(nan)).max_abs_diff);
}

TEST(CompareStates, DifferentTensorsAreRefused) {
  EXPECT_THROW(compare_states(two_tensors(1), {two_tensors(1)[0]}), Error);
}

TEST(ModelFile, RoundTrips) {
  const ScratchDirectory scratch(::testing::TempDir(), "model_file");
  const std::string path = scratch.path() / "model.bin";
  write_model_file(path, two_tensors(3));
  EXPECT_TRUE(compare_states(read_model_file(path), two_tensors(3)).bit_identical);
}

TEST(ModelFile, TruncatedFileIsRefusedByName) {
  const ScratchDirectory scratch(::testing::TempDir(), "model_file");
  const std::string path = scratch.path() / "short.bin";
  write_model_file(path, two_tensors(3));
  const std::string whole = read_file(path);
  write_file_atomically(path, whole.substr(0, whole.size() - 1));
  try {
    read_model_file(path);
    FAIL() << "a truncated model was accepted";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("short.bin"), std::string::npos);
  }
}

}  // namespace
}  // namespace memduel
