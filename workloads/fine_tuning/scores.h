// How good a classifier's answers are, as CBraMod's fine-tuning judges them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memduel {

struct Scores {
  double accuracy = 0;
  double kappa = 0;  ///< Cohen's: agreement beyond chance; 0 where chance alone explains it
  double f1 = 0;     ///< mean over the classes that occur, each weighted by how often it does
};

/// Answers against labels: [label][answer].
class Confusion {
 public:
  explicit Confusion(std::size_t classes) : classes_(classes), counts_(classes * classes) {}

  void add(std::size_t label, std::size_t answer) { ++counts_[label * classes_ + answer]; }
  [[nodiscard]] Scores scores() const;

 private:
  [[nodiscard]] double count(std::size_t label, std::size_t answer) const {
    return static_cast<double>(counts_[label * classes_ + answer]);
  }

  std::size_t classes_;
  std::vector<std::int64_t> counts_;
};

}  // namespace memduel
