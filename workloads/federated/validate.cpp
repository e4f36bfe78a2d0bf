#include "workloads/federated/validate.h"

#include <algorithm>

namespace memduel {

double validate(const Model& model, const Samples& samples, int batch_size,
                MakePredictions make_predictions) {
  const torch::NoGradGuard no_grad;
  model.network->eval();
  const std::unique_ptr<Predictions> predictions = make_predictions();
  for (std::int64_t first = 0; first < samples.count(); first += batch_size) {
    const std::int64_t count = std::min<std::int64_t>(batch_size, samples.count() - first);
    const Batch batch = samples.slice(first, count).on(device_of(model));
    predictions->add(model.network->forward(batch.images), batch.labels);
  }
  return predictions->accuracy();
}

}  // namespace memduel
