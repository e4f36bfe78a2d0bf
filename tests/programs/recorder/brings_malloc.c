/* A program with an allocator of its own, as programs that link jemalloc statically have. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(16) char room[1 << 20];
static size_t used = 0;

void* malloc(size_t size) {
  const size_t begin = used;
  used += (size + 15) & ~(size_t)15;
  return used <= sizeof room ? room + begin : NULL;
}
void free(void* block) {
  (void)block;
}
void* calloc(size_t count, size_t size) {
  return malloc(count * size); /* fresh room is zero */
}
void* realloc(void* block, size_t size) {
  void* larger = malloc(size);
  if (larger != NULL && block != NULL) memcpy(larger, block, size);
  return larger;
}

int main(void) {
  char* volatile block = malloc(1000);
  return block == NULL;
}
