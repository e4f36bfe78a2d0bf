/* What a stretch of a program does to its heap, counted in the program itself: link
 * libmemduel_recorder.so, or run under `memduel record`, where a window is a round. C99 and C++.
 *
 * Windows are of the whole process and do not nest. Counts are exact in a process of one thread and
 * within 64 KiB (1 + 1/2 + ... + 1/8) and 8 KiB for each further thread otherwise.
 */
#ifndef MEMDUEL_HEAP_WINDOW_H
#define MEMDUEL_HEAP_WINDOW_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct memduel_heap_window {
  int64_t peak_bytes;      /* the most that was live, above the begin */
  int64_t net_bytes;       /* live at the end less live at the begin */
  int64_t allocated_bytes; /* the sum of what was asked for */
  int64_t allocations;
};

/* Counting starts with the first window in a process that is not recorded. */
void memduel_recorder_window_begin(int number);
/* For a framework's hook before it runs somebody's function: the framework's own blocks are left
 * out. Counting begins with the first block that is asked for, on this thread, behind a virtual
 * function or a function pointer that the function which called the hook calls; after 64 blocks
 * without one, all of it counts. `frame` is the hook's __builtin_frame_address(0). */
void memduel_recorder_window_begin_at_callback(int number, const void* frame);
void memduel_recorder_window_end(struct memduel_heap_window* window);

#ifdef __cplusplus
}
#endif

#endif /* MEMDUEL_HEAP_WINDOW_H */
