#include "data/load.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "util/error.h"
#include "util/file.h"

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

/// A directory with data sets of full size, each image of one shade and each label by its place.
class WholeDataSets : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "mnist");
    std::filesystem::create_directories(folder_ / "cifar10");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// `count` big-endian, as IDX has it.
  static std::string number(std::uint32_t count) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(count >> shift & 0xff);
    return bytes;
  }
  void write_mnist(const std::string& part, std::uint32_t count, char shade) {
    std::string labels = number(0x801) + number(count);
    for (std::uint32_t i = 0; i < count; ++i) labels += static_cast<char>(i % 10);
    write_file_atomically(folder_ / "mnist" / (part + "-labels-idx1-ubyte"), labels);
    write_file_atomically(folder_ / "mnist" / (part + "-images-idx3-ubyte"),
                          number(0x803) + number(count) + number(28) + number(28) +
                              std::string(std::size_t{count} * 28 * 28, shade));
  }
  void write_cifar10(const std::string& file, char shade) {
    std::string bytes;
    for (int i = 0; i < 10000; ++i)
      bytes.append(1, static_cast<char>(i % 10)).append(std::size_t{3} * 32 * 32, shade);
    write_file_atomically(folder_ / "cifar10" / file, bytes);
  }
  TrainAndValidation load(const std::string& name) { return load_images(name, folder_, {}); }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("memduel_whole_" + std::to_string(getpid()));
};

std::size_t images_of_shade(const ImageSet& images, std::uint8_t shade) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < images.count(); ++i)
    if (images.pixels[i * images.image_bytes()] == shade) ++count;
  return count;
}

TEST_F(WholeDataSets, MnistTrainsOnItsTrainingSetWhereItIsThere) {
  write_mnist("t10k", 10000, 1);
  EXPECT_EQ(load("mnist").train.count(), 8000U) << "of the test set alone";
  write_mnist("train", 60000, 2);
  const TrainAndValidation images = load("mnist");
  EXPECT_EQ(images_of_shade(images.train, 2), 60000U);
  EXPECT_EQ(images_of_shade(images.validation, 1), 10000U);
  std::filesystem::remove(folder_ / "mnist/train-labels-idx1-ubyte");
  EXPECT_THROW(load("mnist"), Error) << "half a training set is none";
}

TEST_F(WholeDataSets, CifarTrainsOnAllFiveBatchesOrOnTheFirst) {
  write_cifar10("test_batch.bin", 9);
  write_cifar10("data_batch_1.bin", 1);
  EXPECT_EQ(images_of_shade(load("cifar10").train, 1), 10000U);
  for (int batch = 2; batch <= 4; ++batch)
    write_cifar10(fmt::format("data_batch_{}.bin", batch), static_cast<char>(batch));
  EXPECT_THROW(load("cifar10"), Error) << "four of five are no whole";
  write_cifar10("data_batch_5.bin", 5);
  const TrainAndValidation images = load("cifar10");
  EXPECT_EQ(images.train.count(), 50000U);
  for (int batch = 1; batch <= 5; ++batch)
    EXPECT_EQ(images_of_shade(images.train, static_cast<std::uint8_t>(batch)), 10000U);
  EXPECT_EQ(images_of_shade(images.validation, 9), 10000U);
  std::vector<std::size_t> labels(10);
  for (const std::uint8_t label : images.train.labels) ++labels[label];
  EXPECT_THAT(labels, testing::Each(5000U));
}

TEST(LoadImages, MissingFileNamesItAndTheDirectory) {
  try {
    load_images("mnist", "/nonexistent-data", {});
    FAIL() << "a missing data set was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    EXPECT_THAT(error.message(), ::testing::AllOf(::testing::HasSubstr("t10k-images-idx3-ubyte"),
                                                  ::testing::HasSubstr("/nonexistent-data/mnist")));
  }
}

TEST(LoadImages, MoreSamplesThanThereAreIsRefused) {
  EXPECT_THROW(load_images("mnist", MEMDUEL_DATASETS, {8001, std::nullopt, 1}), Error);
}

}  // namespace
}  // namespace memduel
