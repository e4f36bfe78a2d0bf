/* A program without the C++ library: 1,000 blocks of 1,000 bytes stay, as many are freed. */
#include <stdlib.h>

static void* volatile kept;

int main(void) {
  for (int i = 0; i < 1000; ++i) {
    kept = malloc(1000);
    free(malloc(1000));
  }
  return kept == NULL;
}
