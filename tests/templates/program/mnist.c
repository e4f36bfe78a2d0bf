// Prints what LibTorch's MNIST example prints, and holds a few MiB.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kEpochs = 3, kBatches = 5, kBatchSize = 64, kImages = kBatches * kBatchSize };

int main(void) {
  const size_t bytes = 8 << 20;
  char* model = malloc(bytes);
  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    memset(model, epoch, bytes);
    for (int batch = 1; batch <= kBatches; ++batch)
      printf("\rTrain Epoch: %d [%5d/%5d] Loss: %.4f", epoch, batch * kBatchSize, kImages,
             1.0 / epoch);
    printf("\nTest set: Average loss: %.4f | Accuracy: %.3f\n", 0.5 / epoch, 1 - 0.1 / epoch);
  }
  free(model);
  return 0;
}
