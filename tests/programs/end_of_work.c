/* end_of_work MIB LEFT [trim|keep IDLE_MS]: works on so many MiB in blocks of 4000 bytes below one
   that stays, frees them, gives what is free back to the kernel or keeps it, idles, and leaves LEFT
   blocks of 1000 bytes when it ends. */
#define _POSIX_C_SOURCE 200809L
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char** argv) {
  const size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) * 1048576 / 4000 : 0;
  const size_t left = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
  char** blocks = malloc((count + 1) * sizeof *blocks);
  size_t i;
  for (i = 0; i < count; ++i) memset(blocks[i] = malloc(4000), 1, 4000);
  for (i = 0; i <= left; ++i) *(volatile char*)malloc(1000) = 1;
  for (i = 0; i < count; ++i) free(blocks[i]);
  free(blocks);
  if (argc > 4) {
    const long idle_ms = strtol(argv[4], NULL, 10);
    const struct timespec idle = {idle_ms / 1000, idle_ms % 1000 * 1000000};
    if (strcmp(argv[3], "trim") == 0) malloc_trim(0);
    nanosleep(&idle, NULL);
  }
  puts("done");
  return 0;
}
