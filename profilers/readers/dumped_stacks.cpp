#include "profilers/readers/dumped_stacks.h"

#include <cmath>

namespace memduel {

Estimate unbiased(std::uint64_t count, std::uint64_t bytes, double interval) {
  const auto n = static_cast<double>(count);
  const auto sum = static_cast<double>(bytes);
  const auto samples = static_cast<std::int64_t>(count);
  if (count == 0 || bytes == 0 || interval <= 1) return {sum, n, 0, samples};
  const double mean = sum / n;
  const double p = -std::expm1(-mean / interval);
  const double missed = std::exp(-mean / interval);
  return {sum / p, n / p, n * mean * mean * missed / (p * p), samples};
}

void add_stacks(Profile& profile, StackBuilder& builder, AddressSpace& space,
                const std::vector<DumpedStack>& stacks) {
  for (const DumpedStack& stack : stacks) {
    std::uint32_t node = 0;
    for (auto call = stack.calls.rbegin(); call != stack.calls.rend(); ++call) {
      node = builder.stack(node, space.location_at(*call));
    }
    AllocationSite& site = profile.sites[builder.site_number(node)];
    site.live += stack.live;
    site.allocated += stack.allocated;
  }
  space.finish();
}

}  // namespace memduel
