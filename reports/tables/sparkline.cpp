#include "reports/tables/sparkline.h"

#include <algorithm>
#include <array>

namespace memduel {

std::string sparkline(const std::vector<double>& values, double low, double high) {
  constexpr std::array kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string out;
  for (const double value : values) {
    const double place = high > low ? (value - low) / (high - low) : 0;
    out += kBars.at(static_cast<size_t>(std::clamp(place * 7 + 0.5, 0.0, 7.0)));
  }
  return out;
}

std::vector<double> thinned(const std::vector<double>& values, size_t width) {
  if (values.size() <= width) return values;
  std::vector<double> out(width, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    double& slot = out[i * width / values.size()];
    slot = std::max(slot, values[i]);
  }
  return out;
}

}  // namespace memduel
