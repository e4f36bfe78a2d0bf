#include "provider/datasets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "support/small_experiment.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

class Datasets : public TestFolder {
 protected:
  void put(const fs::path& file) {
    fs::create_directories((folder_ / file).parent_path());
    write_file_atomically(folder_ / file, "x");
  }
};

TEST_F(Datasets, OfWhichTheRestIsMissingSayWhatIsUsed) {
  put("mnist/t10k-images-idx3-ubyte.gz");
  put("mnist/t10k-labels-idx1-ubyte.gz");
  const nlohmann::json workload = {{"dataset", {{"name", "mnist"}}}};
  EXPECT_EQ(describe_data(workload, folder_),
            "mnist, only the test set: 8,000 to train and 2,000 to validate");
  put("mnist/train-images-idx3-ubyte");
  EXPECT_NE(describe_data(workload, folder_), "mnist, whole") << "the labels are missing";
  put("mnist/train-labels-idx1-ubyte.gz");
  EXPECT_EQ(describe_data(workload, folder_), "mnist, whole");
  EXPECT_EQ(describe_data({{"dataset", {{"name", "dummy-cifar10"}}}}, folder_), "");
  EXPECT_EQ(describe_data({{"kind", "state-dict"}}, folder_), "");
}

TEST_F(Datasets, AFolderWithTheWholeComesBeforeOneWithAPart) {
  for (const char* part : {"a/mnist/t10k-", "b/mnist/t10k-", "b/mnist/train-"}) {
    put(std::string(part) + "images-idx3-ubyte.gz");
    put(std::string(part) + "labels-idx1-ubyte.gz");
  }
  EXPECT_EQ(find_dataset("mnist", {folder_ / "a", folder_ / "b"}), folder_ / "b");
  EXPECT_EQ(find_dataset("mnist", {folder_ / "a"}), folder_ / "a");
}

TEST_F(Datasets, HalfOfOneIsRefusedWithWhatIsMissing) {
  put("cifar10/data_batch_1.bin");
  put("cifar10/test_batch.bin");
  EXPECT_EQ(find_dataset("cifar10", {folder_}), folder_) << "the first batch alone is a subset";
  put("cifar10/data_batch_3.bin");
  const Error error = error_of([&] { find_dataset("cifar10", {folder_}); });
  EXPECT_EQ(error.code(), ExitCode::io);
  EXPECT_THAT(error.message(), testing::HasSubstr("no cifar10/data_batch_2.bin, "
                                                  "cifar10/data_batch_4.bin, "
                                                  "cifar10/data_batch_5.bin"));
  EXPECT_THAT(error.message(), testing::HasSubstr("or only the first batch"));
  EXPECT_THAT(error.message(), testing::HasSubstr("fetch-datasets.sh cifar10"));
}

TEST_F(Datasets, TheFirstFolderThatHoldsEveryFileWins) {
  put("a/mnist/t10k-images-idx3-ubyte.gz");
  put("b/mnist/t10k-images-idx3-ubyte");
  put("b/mnist/t10k-labels-idx1-ubyte.gz");
  EXPECT_EQ(find_dataset("mnist", {folder_ / "a", folder_ / "b"}), folder_ / "b");
}

TEST_F(Datasets, AMissingOneSaysWhereItWasLookedForAndHowToGetIt) {
  put("a/cifar10/test_batch.bin");
  const Error error = error_of([&] { find_dataset("cifar10", {folder_ / "a", "/nowhere"}); });
  EXPECT_EQ(error.code(), ExitCode::io);
  EXPECT_EQ(error.message(),
            "data set cifar10: the data set is missing; looked in\n    " +
                (folder_ / "a").string() +
                " (no cifar10/data_batch_1.bin)\n    /nowhere (no cifar10/data_batch_1.bin, "
                "cifar10/test_batch.bin)\n  run scripts/fetch-datasets.sh cifar10, or set its "
                "folder with --data-dir or MEMDUEL_DATA_DIR");
}

TEST_F(Datasets, ADirectoryInPlaceOfAFileIsNotTheFile) {
  put("mnist/t10k-images-idx3-ubyte");
  fs::create_directories(folder_ / "mnist/t10k-labels-idx1-ubyte");
  EXPECT_EQ(error_of([&] { find_dataset("mnist", {folder_}); }).code(), ExitCode::io);
}

TEST_F(Datasets, WorkloadsWithoutOneNeedNoFolder) {
  EXPECT_EQ(find_data_dir({{"kind", "command"}}, {folder_}), fs::path());
  EXPECT_EQ(find_data_dir({{"dataset", {{"name", "dummy-cifar10"}}}}, {folder_}), folder_);
}

TEST_F(Datasets, TheLogThatAWorkloadNamesIsLookedFor) {
  const nlohmann::json workload = {{"dataset", {{"name", "can-log"}, {"file", "can/drive.log"}}}};
  const Error missing = error_of([&] { find_data_dir(workload, {folder_}); });
  EXPECT_EQ(missing.code(), ExitCode::io);
  EXPECT_THAT(missing.message(), ::testing::HasSubstr("(no can/drive.log)"));
  put("can/drive.log");
  EXPECT_EQ(find_data_dir(workload, {folder_}), folder_);
}

TEST_F(Datasets, PeopleAreToldWhereOneLiesOrWhatItTakes) {
  put("mnist/t10k-images-idx3-ubyte.gz");
  const auto told = [&](const std::string& name) {
    const auto& all = known_datasets();
    return whereabouts(
        *std::ranges::find_if(all, [&](const auto& one) { return one.name == name; }), {folder_});
  };
  EXPECT_EQ(told("mnist"), "not found: run scripts/fetch-datasets.sh mnist");
  put("mnist/t10k-labels-idx1-ubyte");
  EXPECT_EQ(told("mnist"), "in " + folder_.string() +
                               ", only the test set: 8,000 to train and 2,000 to validate; for "
                               "the whole set, run scripts/fetch-datasets.sh mnist");
  put("mnist/train-images-idx3-ubyte");
  put("mnist/train-labels-idx1-ubyte");
  EXPECT_EQ(told("mnist"), "in " + folder_.string());
  EXPECT_EQ(told("synthetic-eeg"), "needs no file");
  EXPECT_EQ(told("edf"), "needs a file below a data folder: a recording in EDF+ at 200 Hz");
}

TEST_F(Datasets, FoldersAreSearchedInTheDocumentedOrder) {
  ::setenv("MEMDUEL_DATA_DIR", "/from/variable", 1);
  const auto directories = data_directories("/from/flag");
  ::unsetenv("MEMDUEL_DATA_DIR");
  ASSERT_GE(directories.size(), 4U);
  EXPECT_EQ(directories[0], "/from/flag");
  EXPECT_EQ(directories[1], "/from/variable");
  EXPECT_EQ(directories[2].filename(), "data");
  EXPECT_EQ(directories[3].filename(), "datasets");
}

TEST_F(Datasets, AFileOutsideTheDataFoldersIsRefused) {
  for (const char* file : {"../../../etc/passwd", "/etc/passwd", "can/../../x"}) {
    const nlohmann::json workload = {{"dataset", {{"name", "can-log"}, {"file", file}}}};
    const Error error = error_of([&] { find_data_dir(workload, {folder_}); });
    EXPECT_EQ(error.code(), ExitCode::usage) << file;
    EXPECT_THAT(error.message(), ::testing::HasSubstr(file));
  }
}

}  // namespace
}  // namespace memduel
