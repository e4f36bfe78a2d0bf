#include "workloads/datasets/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace memduel {
namespace {

TEST(LoadImages, SplitsMnistEightToTwo) {
  const TrainAndValidation images = load_images("mnist", MEMDUEL_DATASETS, {});
  EXPECT_EQ(images.train.count(), 8000U);
  EXPECT_EQ(images.validation.count(), 2000U);
}

TEST(LoadImages, TakesAsManySamplesAsWanted) {
  const TrainAndValidation images = load_images("mnist", MEMDUEL_DATASETS, {100, 50, 1});
  EXPECT_EQ(images.train.count(), 100U);
  EXPECT_EQ(images.validation.count(), 50U);
}

TEST(LoadImages, MissingFileNamesItAndTheDirectory) {
  try {
    load_images("mnist", "/nonexistent-data", {});
    FAIL() << "a missing data set was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    EXPECT_THAT(error.message(), ::testing::AllOf(::testing::HasSubstr("t10k-images-idx3-ubyte.gz"),
                                                  ::testing::HasSubstr("/nonexistent-data/mnist")));
  }
}

TEST(LoadImages, MoreSamplesThanThereAreIsRefused) {
  EXPECT_THROW(load_images("mnist", MEMDUEL_DATASETS, {8001, std::nullopt, 1}), Error);
}

}  // namespace
}  // namespace memduel
