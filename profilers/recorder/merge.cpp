#include "profilers/recorder/merge.h"

namespace memduel::recorder {

namespace {

int add_run(const PythonStack& python, const PythonRun& run, FrameWord* merged, int count) {
  for (int i = run.first; i < run.first + run.count; ++i) {
    const FrameWord word = python_word(python.frames[i]);
    if (word != 0) merged[count++] = word;
  }
  return count;
}

}  // namespace

int merge_stacks(const NativeStack& native, const PythonStack& python, FrameWord* merged) {
  int count = 0;
  int run = 0;
  for (int i = native.count - 1; i >= 0; --i) {
    const int before = run;
    while (run < python.run_count && python.runs[run].at < native.frames[i].cfa) {
      count = add_run(python, python.runs[run++], merged, count);
    }
    if (run == before) merged[count++] = native.frames[i].ip;
  }
  // Native frames end early at code without unwind tables, such as perf trampolines.
  for (; run < python.run_count; ++run) count = add_run(python, python.runs[run], merged, count);
  return count;
}

}  // namespace memduel::recorder
