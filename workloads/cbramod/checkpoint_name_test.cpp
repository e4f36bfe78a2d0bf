#include "checkpoint_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(CheckpointName, ReadsWhatFineTuningWrites) {
  const auto name = parse_checkpoint_name("epoch12_acc_0.84512_kappa_0.71234_f1_0.80000.pth");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->epoch, 12);
  EXPECT_THAT(name->metrics,
              ElementsAre(Pair("acc", 0.84512), Pair("f1", 0.8), Pair("kappa", 0.71234)));
}

TEST(CheckpointName, ReadsWhatLightningWrites) {
  const auto name = parse_checkpoint_name("epoch=3-step=3000-val_loss=-1.5e-05.ckpt");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->epoch, 3);
  EXPECT_THAT(name->metrics, ElementsAre(Pair("step", 3000), Pair("val_loss", -1.5e-05)));
}

TEST(CheckpointName, ReadsWhatLightningWritesWhereANameIsTaken) {
  const auto name = parse_checkpoint_name("epoch=1-step=20-val_loss=0.1-v12.ckpt");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->epoch, 1);
  EXPECT_THAT(name->metrics, ElementsAre(Pair("step", 20), Pair("val_loss", 0.1)));
  EXPECT_EQ(parse_checkpoint_name("epoch=4-v1.ckpt")->epoch, 4);
}

TEST(CheckpointName, AMetricMayHoldTheSignBeforeItsValue) {
  const auto name = parse_checkpoint_name("epoch0_val_acc_0.5_top_k_3.pt");
  ASSERT_TRUE(name);
  EXPECT_THAT(name->metrics, ElementsAre(Pair("top_k", 3), Pair("val_acc", 0.5)));
}

TEST(CheckpointName, ReadsValuesThatAreNotFinite) {
  const auto name = parse_checkpoint_name("epoch1_kappa_nan_loss_inf.pth");
  ASSERT_TRUE(name);
  EXPECT_TRUE(std::isnan(name->metrics.at("kappa")));
  EXPECT_TRUE(std::isinf(name->metrics.at("loss")));
}

TEST(CheckpointName, WritesWhatFineTuningWrites) {
  EXPECT_EQ(make_checkpoint_name({7, {{"kappa", 0.5}, {"acc", 0.8451249}}}),
            "epoch7_acc_0.84512_kappa_0.50000.pth");
}

class UnknownName : public testing::TestWithParam<const char*> {};

TEST_P(UnknownName, IsNotRead) {
  EXPECT_EQ(parse_checkpoint_name(GetParam()), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(CheckpointName, UnknownName,
                         testing::Values("", ".pth", "pretrained_weights.pth", "epoch.pth",
                                         "epoch-1.pth", "epoch1_kappa.pth", "epoch1_0.5.pth",
                                         "epoch1_kappa_0.5_.pth", "epoch1_kappa_0.5x.pth",
                                         "epoch1_kappa_0.5_kappa_0.6.pth", "epoch1_kappa_0.5.json",
                                         "epoch1_kappa_0.5.pth.part", "old_epoch1_kappa_0.5.pth",
                                         "epoch=1_kappa_0.5.pth", "epoch1 kappa_0.5.pth",
                                         "epoch99999999999999999999.pth", "epoch1_a/b_0.5.pth",
                                         "epoch=1-kappa=0.5-v.ckpt", "epoch=1-kappa=0.5-v1a.ckpt",
                                         "epoch=-v1.ckpt", "epoch1_kappa_0.5-v1.pth"));

}  // namespace
}  // namespace memduel
