#include "sampler.h"

#include <cstring>

#include "counters.h"

namespace memduel::recorder {

namespace {

std::uint64_t samples = 0;

std::uint64_t mean_interval() {
  const std::uint64_t last = settings.interval_bytes;
  std::uint64_t mean = settings.first_interval_bytes;
  if (mean == 0 || mean >= last) return last;
  std::uint64_t doublings = __atomic_load_n(&samples, __ATOMIC_RELAXED) / kSamplesAnInterval;
  for (; doublings > 0 && mean < last; --doublings) mean *= 2;
  return mean < last ? mean : last;
}

std::uint64_t split_mix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

// u = m * 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh((m-1)/(m+1)), whose series to the
// 13th power is off by less than 1e-11 there.
double negative_log(double u) {
  std::uint64_t bits = 0;
  memcpy(&bits, &u, sizeof bits);
  int exponent = static_cast<int>(bits >> 52) - 1022;
  bits = (bits & ((std::uint64_t{1} << 52) - 1)) | (std::uint64_t{1022} << 52);
  double mantissa = 0;
  memcpy(&mantissa, &bits, sizeof mantissa);
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);
  const double q = s * s;
  double series = 1.0 / 13;
  for (int power = 11; power >= 1; power -= 2) series = series * q + 1.0 / power;
  return -(2 * s * series + exponent * 0.69314718055994531);
}

std::int64_t draw_interval() {
  if (settings.mode != Mode::sampled) return std::int64_t{1} << 60;
  const double u = (static_cast<double>(split_mix(tls.random) >> 11) + 1) * 0x1p-53;
  tls.interval = mean_interval();
  return static_cast<std::int64_t>(negative_log(u) * static_cast<double>(tls.interval));
}

void count_sample() {
  __atomic_fetch_add(&samples, 1, __ATOMIC_RELAXED);
}

void restart_sampling() {
  samples = 0;
}

void seed_thread(std::uint64_t seed, std::uint32_t thread) {
  tls.random = seed ^ (std::uint64_t{thread} << 32);
  split_mix(tls.random);
}

}  // namespace memduel::recorder
