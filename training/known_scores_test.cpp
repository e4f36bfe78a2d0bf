#include "training/known_scores.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

class KnownScore : public testing::TestWithParam<const char*> {};

TEST_P(KnownScore, IsBestAtItsHighest) {
  EXPECT_TRUE(is_known_score(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(KnownScores, KnownScore,
                         testing::Values("kappa", "acc", "val_acc", "Val_Accuracy", "F1",
                                         "f1_macro", "test/auroc", "roc-auc", "balanced_accuracy",
                                         "mAP", "map50_95", "top5_acc", "acc_top_1", "bleu4",
                                         "cohen_kappa", "precision", "recall", "mIoU", "dice",
                                         "mcc", "val_score", "R2"));

/// A loss, a part of a word, a score that is best at its lowest, no word at all.
class UnknownScore : public testing::TestWithParam<const char*> {};

TEST_P(UnknownScore, MayBeBestAtItsLowest) {
  EXPECT_FALSE(is_known_score(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(KnownScores, UnknownScore,
                         testing::Values("loss", "val_Loss", "val_mse", "mae", "rmse", "nll", "ppl",
                                         "wer", "bce", "fid", "perplexity", "err", "mape",
                                         "acc_loss", "accuracy_error", "brier_score", "scored",
                                         "recalled", "val", "top1", "step", "f05", "", "_", "42"));

}  // namespace
}  // namespace memduel
