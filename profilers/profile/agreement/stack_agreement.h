// The reference's largest stacks, and what another tracer has there.
#pragma once

#include <vector>

#include "base/tracer_agreement.h"
#include "profilers/profile/agreement/tracer_side.h"

namespace memduel {

struct StackAgreement {
  AgreementStacks summary;
  std::vector<AgreementStack> stacks;  ///< the reference's, with a cell where the other has it
};

/// Of the ten largest stacks of `reference`, each cut to as many frames as `other` keeps and
/// matched by its functions (stack_matching.h). Both must know the amount.
StackAgreement stack_agreement(const TracerSide& reference, const TracerSide& other,
                               DifferenceKind kind);

}  // namespace memduel
