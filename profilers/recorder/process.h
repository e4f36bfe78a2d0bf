// The life of the process image: constructor, threads, fork, exec, exit.
#pragma once

#include "thread_state.h"

namespace memduel::recorder {

/// First visit of a thread: a number, a random sequence, a call when it ends.
void start_thread() MEMDUEL_HIDDEN;

/// Before the image ends without its exit handlers: by _exit, or because it `executes` another
/// program. Does nothing in a vfork child.
void finish_image(bool executes = false) MEMDUEL_HIDDEN;
/// Before an exec, in a vfork child too: whether the program that is executed will be recorded.
void tell_what_is_lost(bool names_recorder) MEMDUEL_HIDDEN;
/// After an exec that failed.
void resume_image() MEMDUEL_HIDDEN;

bool is_recording() MEMDUEL_HIDDEN;

/// Counts from now on in a page without a file, unless the image is recorded already.
void count_privately() MEMDUEL_HIDDEN;

/// Looks up the functions that leave an image (hooks_process.cpp).
void find_ways_out() MEMDUEL_HIDDEN;
/// libc's exit, which main returns to as well.
void (*exit_function())(int) MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
