#include "synthetic_eeg.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "data/random.h"

namespace memduel {
namespace {

struct Rhythm {
  double hertz;
  double bandwidth;   ///< Hz, between the points of half the power
  double microvolts;  ///< standard deviation
};

// Frequencies and sizes as in the AASM's manual for scoring sleep.
constexpr Rhythm kRhythms[kSleepStages] = {
    {10, 1.0, 20}, {6, 1.0, 15}, {13.5, 1.0, 12}, {1.5, 0.5, 45}, {3, 0.8, 15}};
constexpr double kBackground = 8;  // microvolts

/// White noise whose power falls as 1/f from 1/1000 of the rate on (Paul Kellet's three poles).
class PinkNoise {
 public:
  double next(RandomEngine& engine) {
    const double white = standard_normal(engine);
    low_ = 0.99765 * low_ + white * 0.0990460;
    middle_ = 0.96300 * middle_ + white * 0.2965164;
    high_ = 0.57000 * high_ + white * 1.0526913;
    return (low_ + middle_ + high_ + white * 0.1848) / kDeviation;
  }

 private:
  static constexpr double kDeviation = 2.97901437;  // of the sum of filters, in closed form
  double low_ = 0;
  double middle_ = 0;
  double high_ = 0;
};

/// A resonance that white noise drives: a rhythm that waxes and wanes. Its variance is 1.
class Resonance {
 public:
  explicit Resonance(const Rhythm& rhythm) {
    const double radius = std::exp(-std::numbers::pi * rhythm.bandwidth / kEegRate);
    const double cosine = std::cos(2 * std::numbers::pi * rhythm.hertz / kEegRate);
    first_ = 2 * radius * cosine;
    second_ = -radius * radius;
    // The variance of an autoregressive process of second order that is driven with 1.
    const double variance =
        (1 - second_) / ((1 + second_) * (1 - first_ - second_) * (1 + first_ - second_));
    drive_ = 1 / std::sqrt(variance);
  }

  double next(RandomEngine& engine) {
    const double now = first_ * last_ + second_ * before_ + drive_ * standard_normal(engine);
    before_ = last_;
    last_ = now;
    return now;
  }

 private:
  double first_;
  double second_;
  double drive_;
  double last_ = 0;
  double before_ = 0;
};

std::vector<double> rhythm_of(std::size_t stage, std::size_t samples, RandomEngine& engine) {
  Resonance resonance(kRhythms[stage]);
  for (int i = 0; i < static_cast<int>(kEegRate); ++i) resonance.next(engine);
  std::vector<double> values(samples);
  for (double& value : values) value = kRhythms[stage].microvolts * resonance.next(engine);
  return values;
}

}  // namespace

EegRecording synthetic_epoch(std::size_t stage, const EegShape& shape, std::uint64_t seed) {
  RandomEngine engine(seed);
  EegRecording epoch{{}, kEegRate, shape.samples, {}};
  epoch.values.reserve(shape.channels * shape.samples);
  const std::vector<double> rhythm = rhythm_of(stage, shape.samples, engine);
  for (std::size_t channel = 0; channel < shape.channels; ++channel) {
    epoch.channels.push_back(fmt::format("EEG {}", channel + 1));
    const double share = 0.5 + uniform_unit(engine);
    PinkNoise background;
    for (const double value : rhythm)
      epoch.values.push_back(
          static_cast<float>(share * value + kBackground * background.next(engine)));
  }
  return epoch;
}

}  // namespace memduel
