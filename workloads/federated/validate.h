// Accuracy of a model over samples.
#pragma once

#include "workloads/federated/samples.h"
#include "workloads/models/model.h"
#include "workloads/optimizations/predictions.h"

namespace memduel {

/// Share of samples classified right, in evaluation mode, batch by batch.
double validate(const Model& model, const Samples& samples, int batch_size,
                MakePredictions make_predictions);

}  // namespace memduel
