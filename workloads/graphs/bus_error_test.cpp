#include "workloads/graphs/bus_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "base/error.h"
#include "base/scratch_directory.h"
#include "workloads/graphs/generated_graphs.h"
#include "workloads/graphs/graph_file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

class CutOffWhileMapped : public testing::Test {
 protected:
  CutOffWhileMapped() {
    std::signal(SIGBUS, SIG_DFL);  // sanitizers have a handler
    write_generated_graphs(path_, 100, 1);
    store_ = open_graphs(path_, GraphLoading::mmap);
  }

  void read_behind_its_end() const {
    fs::resize_file(path_, 4096);
    static_cast<void>(store_->graph(99));
  }

  ScratchDirectory scratch_{testing::TempDir(), "bus_error"};
  fs::path path_ = scratch_.path() / "graphs";
  std::unique_ptr<GraphStore> store_;
};

TEST_F(CutOffWhileMapped, EndsWithALineAndTheStatusOfABadFile) {
  const BusErrorLine line(store_->mapping(), "graphs: cut off");
  EXPECT_EXIT(read_behind_its_end(), testing::ExitedWithCode(static_cast<int>(ExitCode::io)),
              "^graphs: cut off\n$");
}

TEST_F(CutOffWhileMapped, EndsBySignalOnceTheLineIsGone) {
  static_cast<void>(BusErrorLine(store_->mapping(), "graphs: cut off"));
  EXPECT_EXIT(read_behind_its_end(), testing::KilledBySignal(SIGBUS), "");
}

TEST_F(CutOffWhileMapped, OtherBusErrorsHaveTheirEffect) {
  const BusErrorLine line(store_->mapping(), "graphs: cut off");
  EXPECT_EXIT(raise(SIGBUS), testing::KilledBySignal(SIGBUS), "^$");
  const auto other = open_graphs(path_, GraphLoading::mmap);
  EXPECT_EXIT(
      {
        fs::resize_file(path_, 4096);
        static_cast<void>(other->graph(99));
      },
      testing::KilledBySignal(SIGBUS), "^$");
}

}  // namespace
}  // namespace memduel
