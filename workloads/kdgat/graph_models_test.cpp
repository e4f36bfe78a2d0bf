#include "kdgat/graph_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"

namespace memduel {
namespace {

struct PublishedCount {
  const char* model;
  std::int64_t parameters;
  std::int64_t embedding;
};

class PublishedModel : public testing::TestWithParam<PublishedCount> {};

// Counted by PyTorch for 500 identifiers and 11 inputs.
TEST_P(PublishedModel, HasItsParameters) {
  const GraphModel& model = find_graph_model(GetParam().model);
  EXPECT_EQ(parameter_count(model), GetParam().parameters);
  EXPECT_EQ(embedding_count(model), GetParam().embedding);
}

INSTANTIATE_TEST_SUITE_P(KdGat, PublishedModel,
                         testing::Values(PublishedCount{"gat-large", 1'646'914, 8000},
                                         PublishedCount{"gat-small", 90'018, 4000},
                                         PublishedCount{"gat-old-teacher", 14'211'202, 16'000},
                                         PublishedCount{"vgae-large", 246'950, 16'000},
                                         PublishedCount{"vgae-small", 27'046, 2000},
                                         PublishedCount{"vgae-old-teacher", 910'726, 32'000}));

// A car of 35 identifiers: 465 rows of the embedding less, and as many outputs of both classifiers.
TEST(GraphModel, GrowsWithTheIdentifiers) {
  const GraphModel& gat = find_graph_model("gat-large");
  EXPECT_EQ(parameter_count(gat) - parameter_count(gat, 35), 465 * 16);
  const GraphModel& vgae = find_graph_model("vgae-large");
  EXPECT_EQ(parameter_count(vgae) - parameter_count(vgae, 35), 465 * (32 + 2 * 49));
}

TEST(GraphModel, UnknownNamesAreRefusedWithTheNearest) {
  try {
    find_graph_model("gat-larg");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.message(), testing::HasSubstr("did you mean gat-large?"));
  }
}

TEST(GraphModel, NetworksHaveTheWidestLayerAndTheMostHeads) {
  const GraphNetwork network = network_of(find_graph_model("gat-large"), 28.7, 42.1);
  EXPECT_EQ(network.layers, 3);
  EXPECT_EQ(network.channels, 48);
  EXPECT_EQ(network.heads, 8);
  EXPECT_DOUBLE_EQ(network.nodes, 28.7);
}

}  // namespace
}  // namespace memduel
