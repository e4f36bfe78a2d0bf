/* allocates MIB: keeps that much memory in blocks of 1000 bytes, frees it and ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  const size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) * 1048576 / 1000 : 1000;
  char** blocks = malloc((count + 1) * sizeof *blocks);
  size_t i;
  for (i = 0; i < count; ++i) memset(blocks[i] = malloc(1000), 1, 1000);
  printf("%d\n", blocks[count / 2][500]);
  for (i = 0; i < count; ++i) free(blocks[i]);
  free(blocks);
  return 0;
}
