#include "workloads/fine_tuning/scores.h"

namespace memduel {

Scores Confusion::scores() const {
  std::vector<double> labelled(classes_);
  std::vector<double> answered(classes_);
  double right = 0;
  double all = 0;
  for (std::size_t label = 0; label < classes_; ++label)
    for (std::size_t answer = 0; answer < classes_; ++answer) {
      labelled[label] += count(label, answer);
      answered[answer] += count(label, answer);
      all += count(label, answer);
      if (label == answer) right += count(label, answer);
    }
  if (all == 0) return {};
  double by_chance = 0;
  Scores scores;
  for (std::size_t i = 0; i < classes_; ++i) {
    by_chance += labelled[i] / all * (answered[i] / all);
    const double either = labelled[i] + answered[i];
    if (labelled[i] > 0) scores.f1 += labelled[i] / all * (2 * count(i, i) / either);
  }
  scores.accuracy = right / all;
  scores.kappa = by_chance < 1 ? (scores.accuracy - by_chance) / (1 - by_chance) : 0;
  return scores;
}

}  // namespace memduel
