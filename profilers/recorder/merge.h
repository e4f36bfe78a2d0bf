// One stack out of two: the Python frames in the place of the interpreter's native frames.
#pragma once

#include "profilers/recorder/python.h"
#include "profilers/recorder/stacks.h"
#include "profilers/recorder/unwind.h"

namespace memduel::recorder {

inline constexpr int kMostMerged = NativeStack::kMostFrames + PythonStack::kMostFrames;

/// Fills `merged`, innermost first; how many. Under the trace's lock, which may be told of code
/// objects. A run belongs to the native frame that its address lies in, whatever that function is
/// called: an interpreter may be stripped, split into parts or cloned by its compiler.
int merge_stacks(const NativeStack& native, const PythonStack& python,
                 FrameWord* merged) MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
