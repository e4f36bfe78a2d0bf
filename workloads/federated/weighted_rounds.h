// Values collect_all and in_time of switch aggregate: rounds that end in a weighted mean of the
// clients' whole states. collect_all adds them up once all are there; in_time adds each as soon as
// it is there, in the order of the clients' numbers, so that one upload is alive at a time and both
// end in the same bits.
#pragma once

#include <memory>

#include "workloads/federated/rounds.h"

namespace memduel {

/// References must outlive the result.
std::unique_ptr<Rounds> make_weighted_rounds(const WorkerConfig& config,
                                             const Optimizations& optimizations,
                                             const Model& model);

}  // namespace memduel
