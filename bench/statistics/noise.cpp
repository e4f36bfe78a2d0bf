#include "bench/statistics/noise.h"

#include <cmath>

namespace memduel::bench {
namespace {

constexpr double kMiB = 1048576;
constexpr double kBase = 540 * kMiB;  // resident set of a ResNet18 round

/// One trial at place `place` of `places` in the session.
class Source {
 public:
  Source(Shape shape, int places, Random& random)
      : shape_(shape), places_(places), random_(random), ar_(random.normal()) {}

  double next() {
    const double spread = 1 + 0.01 * random_.normal();
    const double place = place_++;
    switch (shape_) {
      case Shape::normal:
        return kBase * spread;
      case Shape::bimodal_arena:
        return kBase * spread + (random_.below(4) == 0 ? 64 * kMiB : 0);
      case Shape::quantised: {
        double steps = 0;
        for (int i = 0; i < 4; ++i) steps += random_.uniform() < 0.3 ? 1 : 0;
        return kBase + 32 * kMiB * steps;
      }
      case Shape::skewed:
        return kBase * (1 - 0.02 * std::log(1 - random_.uniform()));
      case Shape::drifting:
        break;
    }
    ar_ = 0.7 * ar_ + std::sqrt(1 - 0.49) * random_.normal();
    return kBase * (1 + 0.05 * place / places_ + 0.01 * ar_);
  }

 private:
  Shape shape_;
  int places_;
  Random& random_;
  double ar_;
  int place_ = 0;
};

}  // namespace

std::string shape_name(Shape shape) {
  switch (shape) {
    case Shape::normal:
      return "normal, 1 %";
    case Shape::bimodal_arena:
      return "bimodal: 64 MiB arena in 25 %";
    case Shape::quantised:
      return "quantised: 32 MiB x B(4, .3)";
    case Shape::skewed:
      return "skewed: exponential, 2 %";
    case Shape::drifting:
      break;
  }
  return "drifting: 5 % and AR(1) .7";
}

Session make_session(Shape shape, int blocks, double change, Random& random) {
  Session session;
  Source source(shape, 2 * blocks, random);
  for (int block = 0; block < blocks; ++block) {
    const double first = source.next();
    const double second = source.next();
    const bool a_first = random.coin();
    session.a.push_back(a_first ? first : second);
    session.b.push_back((a_first ? second : first) * (1 + change));
  }
  return session;
}

}  // namespace memduel::bench
