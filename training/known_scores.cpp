#include "training/known_scores.h"

#include <algorithm>
#include <array>
#include <string>

namespace memduel {
namespace {

constexpr auto kScores = std::to_array<std::string_view>(
    {"acc",    "accuracy", "ap",    "auc",         "auprc",       "auroc", "bleu",
     "dice",   "f1",       "f2",    "iou",         "jaccard",     "kappa", "map",
     "mcc",    "miou",     "mrr",   "ndcg",        "precision",   "psnr",  "r2",
     "recall", "rouge",    "score", "sensitivity", "specificity", "ssim"});

constexpr auto kOfWhat = std::to_array<std::string_view>(
    {"avg",  "balanced", "best", "binary", "class",      "cohen",   "cohens", "dev",
     "eval", "macro",    "mean", "micro",  "multiclass", "pr",      "roc",    "test",
     "top",  "train",    "val",  "valid",  "validation", "weighted"});

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

template <class Words>
bool holds(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// The word without the number at its end: of top5, map50.
std::string_view without_number(std::string_view word) {
  return word.substr(0, word.find_last_not_of("0123456789") + 1);
}

}  // namespace

bool is_known_score(std::string_view metric) {
  std::string name(metric);
  std::ranges::transform(name, name.begin(), lower);
  bool has_score = false;
  for (auto at = name.begin(); at != name.end();) {
    const auto end = std::find_if_not(at, name.end(), is_in_word);
    const std::string_view word(at, end);
    const std::string_view plain = without_number(word);
    if (holds(kScores, word) || holds(kScores, plain))
      has_score = true;
    else if (!plain.empty() && !holds(kOfWhat, plain))
      return false;
    at = std::find_if(end, name.end(), is_in_word);
  }
  return has_score;
}

}  // namespace memduel
