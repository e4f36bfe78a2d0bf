#include "synthetic_eeg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "eeg_recording.h"

namespace memduel {
namespace {

constexpr EegShape kMinute{4, 12000};

/// Power per hertz around `hertz`, by Fourier sums of stretches of two seconds, over all channels.
double density(const EegRecording& epoch, double hertz) {
  constexpr std::size_t kStretch = 400;
  double sum = 0;
  int stretches = 0;
  for (std::size_t channel = 0; channel < epoch.channels.size(); ++channel) {
    const auto values = epoch.channel(channel);
    for (std::size_t first = 0; first + kStretch <= values.size(); first += kStretch, ++stretches) {
      std::complex<double> total;
      for (std::size_t n = 0; n < kStretch; ++n) {
        const double turn = static_cast<double>(n) / kStretch;
        const double hann = 1 - std::cos(2 * std::numbers::pi * turn);
        total += static_cast<double>(values[first + n]) * hann *
                 std::polar(1.0, -2 * std::numbers::pi * hertz * static_cast<double>(n) / kEegRate);
      }
      sum += std::norm(total);
    }
  }
  return sum / stretches;
}

TEST(SyntheticEeg, TheBackgroundsPowerFallsAsOneOverF) {
  // Far above R's rhythm. White noise would fall by 1, and 1/f² by 16.
  const EegRecording epoch = synthetic_epoch(4, kMinute, 1);
  const double fall = density(epoch, 15) / density(epoch, 60);
  EXPECT_GT(fall, 4 / 2.0);
  EXPECT_LT(fall, 4 * 2.0);
}

// Against a background that falls as 1/f.
TEST(SyntheticEeg, EveryStageHasThePeakOfItsRhythm) {
  const double rhythms[kSleepStages] = {10, 6, 13.5, 1.5, 3};
  for (std::size_t stage = 0; stage < kSleepStages; ++stage) {
    const EegRecording epoch = synthetic_epoch(stage, kMinute, 7);
    const double own = rhythms[stage] * density(epoch, rhythms[stage]);
    for (const double other : rhythms) {
      if (other == rhythms[stage]) continue;
      EXPECT_GT(own, 3 * other * density(epoch, other)) << stage << " at " << other << " Hz";
    }
  }
}

TEST(SyntheticEeg, IsSoundAndOfTheSizeOfRealOnes) {
  for (std::size_t stage = 0; stage < kSleepStages; ++stage) {
    const EegRecording epoch = synthetic_epoch(stage, {}, 3);
    EXPECT_EQ(epoch.values.size(), 16U * 6000);
    EXPECT_TRUE(scan(epoch).empty());
    double sum = 0;
    for (const float value : epoch.values) sum += static_cast<double>(value) * value;
    const double deviation = std::sqrt(sum / static_cast<double>(epoch.values.size()));
    EXPECT_GT(deviation, 8) << stage;
    EXPECT_LT(deviation, 75) << stage;  // microvolts; slow waves of N3 are defined by 75
  }
}

TEST(SyntheticEeg, DependsOnTheSeedAlone) {
  EXPECT_EQ(synthetic_epoch(0, {2, 400}, 5).values, synthetic_epoch(0, {2, 400}, 5).values);
  EXPECT_NE(synthetic_epoch(0, {2, 400}, 5).values, synthetic_epoch(0, {2, 400}, 6).values);
}

}  // namespace
}  // namespace memduel
