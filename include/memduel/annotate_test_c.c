/* The same header in C99. */
#include "memduel/annotate.h"

void mark_from_c(void);

void mark_from_c(void) {
  memduel_phase("from_c");
}
