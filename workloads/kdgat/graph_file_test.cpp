#include "kdgat/graph_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <limits>

#include "graph_file_writer.h"
#include "synthetic_traffic.h"
#include "test_recorded_drive.h"
#include "util/error.h"
#include "util/file.h"
#include "window_graphs.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

constexpr GraphLoading kLoadings[] = {GraphLoading::read_all, GraphLoading::mmap};

void expect_same(const GraphView& a, const GraphView& b) {
  EXPECT_TRUE(std::equal(a.node_features.begin(), a.node_features.end(), b.node_features.begin(),
                         b.node_features.end()));
  EXPECT_TRUE(std::equal(a.edge_index.begin(), a.edge_index.end(), b.edge_index.begin(),
                         b.edge_index.end()));
  EXPECT_TRUE(std::equal(a.edge_features.begin(), a.edge_features.end(), b.edge_features.begin(),
                         b.edge_features.end()));
  EXPECT_EQ(a.label, b.label);
}

/// Writes the traffic's graphs and returns them.
std::vector<Graph> write_graphs(const fs::path& path, const std::vector<CanFrame>& frames) {
  const IdMap ids = IdMap::of(frames);
  GraphFileWriter writer(path, ids.size());
  std::vector<Graph> graphs;
  for_each_graph(frames, ids, {}, [&](const Graph& graph) {
    writer.add(graph.view());
    graphs.push_back(graph);
  });
  writer.finish();
  return graphs;
}

/// kB of a line of /proc/self/status.
std::int64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != key + ":") continue;
    std::int64_t kib = 0;
    status >> kib;
    return kib * 1024;
  }
  return -1;
}

class GraphFiles : public testing::Test {
 protected:
  ScratchDirectory scratch_{testing::TempDir(), "graphs"};
  fs::path path_ = scratch_.path() / "traffic.graphs";
};

class BrokenGraphFile : public GraphFiles {
 protected:
  void SetUp() override {
    write_graphs(path_, generate_traffic(1001, 0, 1));
    bytes_ = read_file(path_);
    std::memcpy(&header_, bytes_.data(), sizeof(header_));
  }
  template <class Number>
  void put(std::uint64_t offset, Number number) {
    std::memcpy(bytes_.data() + offset, &number, sizeof(number));
  }
  /// What both ways of loading say of the bytes, once every graph was looked at.
  std::string refusal() {
    write_file_atomically(path_, bytes_);
    std::string messages[2];
    for (int i = 0; i < 2; ++i) {
      try {
        const auto store = open_graphs(path_, kLoadings[i]);
        for (std::size_t graph = 0; graph < store->size(); ++graph) (void)store->graph(graph);
        messages[i] = "accepted";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::io);
        messages[i] = error.message();
      }
    }
    EXPECT_EQ(messages[0], messages[1]);
    EXPECT_THAT(messages[0], AnyOf("accepted", HasSubstr(path_.string())));
    return messages[0];
  }

  std::string bytes_;
  GraphHeader header_;
};

TEST_F(GraphFiles, GiveBackWhatWasWrittenInBothWays) {
  const std::vector<Graph> graphs = write_graphs(path_, generate_traffic(5001, 0, 1));
  ASSERT_EQ(graphs.size(), 50U);
  for (const GraphLoading loading : kLoadings) {
    const auto store = open_graphs(path_, loading);
    ASSERT_EQ(store->size(), graphs.size());
    EXPECT_EQ(store->identifiers(), 35U);
    for (std::size_t i = 0; i < graphs.size(); ++i) expect_same(store->graph(i), graphs[i].view());
  }
}

TEST_F(GraphFiles, MayHoldNoGraphOrGraphsWithoutEdges) {
  GraphFileWriter empty(path_, 1);
  empty.finish();
  for (const GraphLoading loading : kLoadings) EXPECT_EQ(open_graphs(path_, loading)->size(), 0U);
  GraphFileWriter writer(path_, 1);
  const Graph lonely{std::vector<float>(kNodeFeatures), {}, {}, 1};
  writer.add(lonely.view());
  writer.finish();
  for (const GraphLoading loading : kLoadings)
    expect_same(open_graphs(path_, loading)->graph(0), lonely.view());
}

TEST_F(GraphFiles, BeginEachPartAtAMultipleOf64) {
  write_graphs(path_, generate_traffic(1001, 0, 1));
  const auto store = open_graphs(path_, GraphLoading::mmap);
  const GraphView first = store->graph(0);
  for (const void* at : {static_cast<const void*>(first.node_features.data()),
                         static_cast<const void*>(first.edge_index.data()),
                         static_cast<const void*>(first.edge_features.data())})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 64, 0U);
}

TEST_F(GraphFiles, StayReadableWhenTheyAreReplaced) {
  const std::vector<Graph> graphs = write_graphs(path_, generate_traffic(2001, 0, 1));
  const auto store = open_graphs(path_, GraphLoading::mmap);
  write_graphs(path_, generate_traffic(301, 0, 2));
  for (std::size_t i = 0; i < graphs.size(); ++i) expect_same(store->graph(i), graphs[i].view());
}

TEST_F(GraphFiles, AnUnfinishedOneLeavesNothing) {
  {
    GraphFileWriter writer(path_, 1);
    writer.add(Graph{std::vector<float>(kNodeFeatures), {}, {}, 0}.view());
  }
  EXPECT_TRUE(fs::is_empty(scratch_.path()));
}

// 3,000 graphs take 15 MB. Mapped, their pages belong to the file; read, they are anonymous.
TEST_F(GraphFiles, TakeAnonymousMemoryOnlyWhenTheyAreRead) {
  write_graphs(path_, generate_traffic(300'001, 0, 1));
  const auto file_bytes = static_cast<std::int64_t>(fs::file_size(path_));
  ASSERT_GT(file_bytes, 10'000'000);
  ::malloc_trim(0);
  for (const GraphLoading loading : kLoadings) {
    const std::int64_t before = status_bytes("RssAnon");
    const std::int64_t file_before = status_bytes("RssFile");
    const auto store = open_graphs(path_, loading);
    double sum = 0;
    for (std::size_t i = 0; i < store->size(); ++i)
      for (const float feature : store->graph(i).edge_features) sum += feature;
    EXPECT_GT(sum, 0);
    const std::int64_t anonymous = status_bytes("RssAnon") - before;
    const std::int64_t of_file = status_bytes("RssFile") - file_before;
    if (loading == GraphLoading::mmap) {
      EXPECT_LT(anonymous, file_bytes / 20);
      EXPECT_GT(of_file, file_bytes / 3);
    } else {
      EXPECT_GT(anonymous, file_bytes * 8 / 10);
      EXPECT_LT(of_file, file_bytes / 20);
    }
  }
}

TEST_F(BrokenGraphFile, CutOffAnywhereIsRefused) {
  const std::string whole = bytes_;
  for (std::size_t size = 0; size < whole.size(); size += size < 200 ? 1 : 997) {
    bytes_ = whole.substr(0, size);
    EXPECT_THAT(refusal(), HasSubstr("expected")) << size;
  }
  bytes_ = whole.substr(0, 63);
  EXPECT_THAT(refusal(), HasSubstr("byte 63: the file ends within its header: expected at least "));
  bytes_ = whole.substr(0, whole.size() - 1);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("expected " + std::to_string(whole.size()) +
                                         " bytes according to the header, found " +
                                         std::to_string(whole.size() - 1)),
                               HasSubstr("before the next trial")));
  bytes_ = whole + "x";
  EXPECT_THAT(refusal(), HasSubstr("according to the header"));
}

TEST_F(BrokenGraphFile, NoFileOfGraphsIsRefused) {
  put(0, std::uint64_t{0x0403'4b50});  // as a zip of torch.save begins
  EXPECT_THAT(refusal(), HasSubstr("byte 0: not a graph file: expected \"mdgraphs\""));
}

TEST_F(BrokenGraphFile, AnotherVersionOrOtherFeaturesAreRefused) {
  put(8, std::uint32_t{2});
  EXPECT_THAT(refusal(), HasSubstr("byte 8: expected version 1, found 2"));
  put(8, std::uint32_t{1});
  put(12, std::uint32_t{26});
  EXPECT_THAT(refusal(), HasSubstr("byte 12: expected a node feature count of 11, found 26"));
}

TEST_F(BrokenGraphFile, CountsThatWouldOverflowAreRefused) {
  put(24, ~std::uint64_t{0});
  EXPECT_THAT(refusal(), HasSubstr("byte 24: expected at most "));
}

TEST_F(BrokenGraphFile, MoreIdentifiersThanItsNodesCanHaveAreRefused) {
  const std::uint64_t most = header_.nodes + 2049;
  put(20, static_cast<std::uint32_t>(most));
  EXPECT_EQ(refusal(), "accepted");
  put(20, static_cast<std::uint32_t>(most + 1));
  EXPECT_THAT(refusal(), HasSubstr("byte 20: expected at most " + std::to_string(most) +
                                   " identifiers, found " + std::to_string(most + 1)));
}

TEST_F(BrokenGraphFile, CountsBeyondTheFileAreRefused) {
  put(32, header_.nodes + 1000);
  EXPECT_THAT(refusal(), HasSubstr("byte 48: expected a file size in bytes of "));
}

TEST_F(BrokenGraphFile, OffsetsOutsideTheFileAreRefused) {
  const GraphParts parts = parts_of(header_);
  put(parts.first_nodes + 8, header_.nodes + 1);
  EXPECT_THAT(refusal(),
              HasSubstr("byte 72: expected an offset from 0 to " + std::to_string(header_.nodes) +
                        ", found " + std::to_string(header_.nodes + 1)));
}

TEST_F(BrokenGraphFile, OffsetsThatFallAreRefused) {
  const GraphParts parts = parts_of(header_);
  put(parts.first_edges + 16, std::uint64_t{0});
  EXPECT_THAT(refusal(), HasSubstr("byte " + std::to_string(parts.first_edges + 16) +
                                   ": expected an offset from "));
}

TEST_F(BrokenGraphFile, EdgesThatLeadOutOfTheirGraphAreRefused) {
  const GraphParts parts = parts_of(header_);
  put(parts.edge_index + 24, std::int64_t{1000});
  EXPECT_THAT(refusal(), HasSubstr("byte " + std::to_string(parts.edge_index + 24) +
                                   ": expected a node from 0 to "));
  put(parts.edge_index + 24, std::int64_t{-1});
  EXPECT_THAT(refusal(), HasSubstr(", found -1"));
}

TEST_F(BrokenGraphFile, NumbersThatNoTrainingTakesAreRefused) {
  const GraphParts parts = parts_of(header_);
  const std::string whole = bytes_;
  std::uint64_t first_of_second = 0;
  std::memcpy(&first_of_second, whole.data() + parts.first_nodes + 8, sizeof(first_of_second));
  const std::uint64_t node = parts.node_features + first_of_second * kNodeFeatures * sizeof(float);
  const std::uint64_t edge = parts.edge_features + (header_.edges * kEdgeFeatures - 1) * 4;
  const auto refusal_of = [&](std::uint64_t at, auto number) {
    bytes_ = whole;
    put(at, number);
    return refusal();
  };
  const auto at = [](std::uint64_t byte) { return "byte " + std::to_string(byte) + ": expected "; };
  EXPECT_THAT(refusal_of(node, -5.0F),
              HasSubstr(at(node) + "a whole number from 0 to 34 as identifier, found -5"));
  for (const float bad : {1e9F, 35.0F, 0.5F, std::numeric_limits<float>::quiet_NaN()})
    EXPECT_THAT(refusal_of(node, bad), HasSubstr("as identifier, found ")) << bad;
  EXPECT_EQ(refusal_of(node, 34.0F), "accepted");
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    EXPECT_THAT(refusal_of(node + 40, bad), HasSubstr(at(node + 40) + "a finite number as feature"))
        << bad;
    EXPECT_THAT(refusal_of(edge, bad), HasSubstr(at(edge) + "a finite number as feature")) << bad;
  }
  EXPECT_EQ(refusal_of(node + 40, std::numeric_limits<float>::max()), "accepted");
  EXPECT_THAT(refusal_of(parts.labels + 8, std::int64_t{7}),
              HasSubstr(at(parts.labels + 8) + "label 0 or 1, found 7"));
}

TEST_F(BrokenGraphFile, AMissingFileAndADirectoryAreRefused) {
  EXPECT_THROW(open_graphs(scratch_.path() / "absent", GraphLoading::mmap), Error);
  EXPECT_THROW(open_graphs(scratch_.path(), GraphLoading::mmap), Error);
}

TEST_F(RecordedDrive, KeepsItsGraphsInAFile) {
  const ScratchDirectory scratch(testing::TempDir(), "drive");
  const std::vector<Graph> graphs = write_graphs(scratch.path() / "drive.graphs", drive());
  const auto store = open_graphs(scratch.path() / "drive.graphs", GraphLoading::mmap);
  ASSERT_EQ(store->size(), 746U);
  for (std::size_t i = 0; i < graphs.size(); ++i) expect_same(store->graph(i), graphs[i].view());
}

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
