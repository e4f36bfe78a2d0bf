#include "analysis/statistics/looks.h"

#include <fmt/format.h>

#include "base/text.h"

namespace memduel {

LookPlan fixed_looks(int blocks) {
  return {{blocks, kAlpha}};
}

LookPlan adaptive_looks() {
  return {{6, 0.01}, {8, 0.01}, {12, 0.015}, {16, 0.015}};
}

CheckedLooks check_looks(const LookPlan& plan, int gates, Design design) {
  CheckedLooks checked;
  double carried = 0;
  for (size_t i = 0; i < plan.size(); ++i) {
    Look look = plan[i];
    look.alpha += carried;
    carried = 0;
    const double needed = smallest_p(look.blocks, design) * gates;
    const bool last = i + 1 == plan.size();
    if (needed <= look.alpha) {
      checked.looks.push_back(look);
    } else if (!last) {
      carried = look.alpha;
      checked.limitations.push_back(
          {"look_refused",
           fmt::format("no look at {} blocks: the smallest p there is {:.4f}, and {} gates share a "
                       "level of {:.4f}, {:.4f} each",
                       look.blocks, smallest_p(look.blocks, design), gates, look.alpha,
                       look.alpha / gates),
           "name fewer gates to be able to stop earlier"});
    } else {
      checked.looks.push_back(look);
      checked.limitations.push_back(
          {"too_few_blocks_for_gates",
           fmt::format("{} cannot show a change in a single one of {}: the smallest p is {:.4f}, "
                       "the level {:.3f} shared by {} is {:.4f}",
                       format_count(look.blocks, "block"), format_count(gates, "gate"),
                       smallest_p(look.blocks, design), look.alpha, gates, look.alpha / gates),
           "raise --repeats or name fewer gates"});
    }
  }
  return checked;
}

double alpha_at(const LookPlan& plan, int blocks) {
  double total = 0;
  double spent = 0;
  for (const Look& look : plan) {
    if (look.blocks == blocks) return look.alpha;
    total += look.alpha;
    if (look.blocks < blocks) spent += look.alpha;
  }
  return spent < total ? total - spent : plan.back().alpha;
}

}  // namespace memduel
