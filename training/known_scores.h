// Metrics whose best value is known to be the highest.
#pragma once

#include <string_view>

namespace memduel {

/// By the words of the name, in whatever case: at least one is a score (kappa, acc, f1, …) and the
/// others only say of what (val, macro, top5, …). One unknown word, as in brier_score, and nothing
/// is known: what is taken for a score wrongly would cost the best checkpoint.
bool is_known_score(std::string_view metric);

}  // namespace memduel
