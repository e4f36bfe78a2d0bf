#include "python.h"

#include <cstring>

// Found when the library is loaded, without dlsym, which would allocate to say what it did not
// find.
#define MEMDUEL_WEAK __attribute__((weak, visibility("default")))
extern "C" {
extern const unsigned long Py_Version MEMDUEL_WEAK;  // from 3.11
MEMDUEL_WEAK const char* Py_GetVersion(void);
extern const char PyCode_Type[] MEMDUEL_WEAK;
extern const char _PyRuntime[] MEMDUEL_WEAK;
MEMDUEL_WEAK const char* PyGILState_GetThisThreadState(void);
MEMDUEL_WEAK const char* _PyThreadState_UncheckedGet(void);  // to 3.12
MEMDUEL_WEAK const char* PyThreadState_GetUnchecked(void);   // from 3.13
MEMDUEL_WEAK int _Py_IsFinalizing(void);                     // to 3.12
MEMDUEL_WEAK int Py_IsFinalizing(void);                      // from 3.13
}

namespace memduel::recorder {

const PythonLayout* python_layout = nullptr;

namespace {

// Compiled from CPython's internal headers of these versions (pycore_frame.h, cpython/code.h).
constexpr PythonLayout k310{24, true, 0, 8, 32, 24, 96, 0, 40, 104, 112, 120, 0, 48, 72};
constexpr PythonLayout k311{56, true, 8, 16, 32, 48, 56, 68, 72, 112, 128, 136, 184, 48, 72};
constexpr PythonLayout k312{56, true, 0, 8, 0, 8, 56, 70, 68, 112, 128, 136, 192, 40, 56};
constexpr PythonLayout k313{72, false, 0, 0, 0, 8, 56, 70, 68, 112, 128, 136, 200, 40, 56};
constexpr PythonLayout k314{72, false, 0, 0, 0, 8, 56, 74, 68, 112, 128, 136, 208, 40, 56};
constexpr std::size_t kCframeOf310 = 48;  // of a thread state
constexpr char kOwnedByNativeStack = 3;  // a shim that lives in the native frame of the interpreter

const char* follow(const char* at, std::size_t offset) {
  return load<const char*>(at, offset);
}

// The compiler holds that the address of an array is never null.
bool is_here(const void* symbol) {
  asm("" : "+r"(symbol));
  return symbol != nullptr;
}

// The build without the interpreter's lock moved the fields; it says so behind the cookie.
bool is_free_threaded() {
  return !is_here(_PyRuntime) || memcmp(_PyRuntime, "xdebugpy", 8) != 0 ||
         load<std::uint64_t>(_PyRuntime, 16) != 0;
}

const PythonLayout* layout_here() {
  if (&PyGILState_GetThisThreadState == nullptr || !is_here(PyCode_Type)) return nullptr;
  if (&Py_Version == nullptr) {
    const bool is_310 = &Py_GetVersion != nullptr && strncmp(Py_GetVersion(), "3.10.", 5) == 0;
    return is_310 ? &k310 : nullptr;
  }
  switch (Py_Version >> 16) {
    case 0x030b:
      return &k311;
    case 0x030c:
      return &k312;
    case 0x030d:
      return is_free_threaded() ? nullptr : &k313;
    case 0x030e:
      return is_free_threaded() ? nullptr : &k314;
    default:
      return nullptr;
  }
}

// While the interpreter goes down it frees the states of threads that still run; only the one that
// takes it down is safe.
const char* usable_state() {
  const char* state = PyGILState_GetThisThreadState();
  if (state == nullptr) return nullptr;
  const bool old = &_Py_IsFinalizing != nullptr;
  if (!old && &Py_IsFinalizing == nullptr) return nullptr;
  if ((old ? _Py_IsFinalizing() : Py_IsFinalizing()) == 0) return state;
  if (&_PyThreadState_UncheckedGet != nullptr) {
    return _PyThreadState_UncheckedGet() == state ? state : nullptr;
  }
  const bool known = &PyThreadState_GetUnchecked != nullptr;
  return known && PyThreadState_GetUnchecked() == state ? state : nullptr;
}

/// Of the instruction that runs, in bytes.
std::ptrdiff_t code_offset(const PythonLayout& layout, const char* frame, const char* code) {
  if (&layout == &k310)
    return std::ptrdiff_t{2} * load<std::int32_t>(frame, layout.frame_instruction);
  return follow(frame, layout.frame_instruction) - code - layout.code_bytes;
}

void add_frame(PythonStack& stack, const PythonLayout& layout, const char* frame) {
  constexpr std::size_t kType = 8;
  // From 3.14 on the lowest bits of the reference say who counts it; objects lie at multiples
  // of 16.
  const auto bits = load<std::uintptr_t>(frame, layout.frame_code) & ~std::uintptr_t{3};
  const auto* code = reinterpret_cast<const char*>(bits);
  // From 3.13 on a frame may have something else in the place of its code.
  if (code == nullptr || follow(code, kType) != PyCode_Type) return;
  const std::uint64_t content = python_content(code);
  stack.frames[stack.frame_count++] = {
      code, content, python_line(code, content, code_offset(layout, frame, code))};
}

void add_run(PythonStack& stack, const char* at, int first) {
  if (stack.frame_count == first) return;
  stack.runs[stack.run_count++] = {reinterpret_cast<std::uintptr_t>(at), first,
                                   stack.frame_count - first};
}

bool has_room(const PythonStack& stack) {
  return stack.frame_count < PythonStack::kMostFrames && stack.run_count < PythonStack::kMostRuns;
}

// 3.10: each Python frame has a native frame of its own, which holds a CFrame.
void walk_by_pairs(PythonStack& stack, const PythonLayout& layout, const char* state) {
  const char* cframe = follow(state, kCframeOf310);
  for (const char* frame = follow(state, layout.current); frame != nullptr && cframe != nullptr;
       frame = follow(frame, layout.frame_previous)) {
    if (!has_room(stack)) return;
    const int first = stack.frame_count;
    add_frame(stack, layout, frame);
    add_run(stack, cframe, first);
    cframe = follow(cframe, layout.cframe_previous);
  }
}

// 3.11: the interpreter's native frame holds a _PyCFrame; its run ends with the entry frame.
void walk_by_cframes(PythonStack& stack, const PythonLayout& layout, const char* state) {
  for (const char* cframe = follow(state, layout.current); cframe != nullptr;
       cframe = follow(cframe, layout.cframe_previous)) {
    const int first = stack.frame_count;
    for (const char* frame = follow(cframe, layout.cframe_frame); frame != nullptr;
         frame = follow(frame, layout.frame_previous)) {
      if (!has_room(stack)) return;
      add_frame(stack, layout, frame);
      if (load<bool>(frame, layout.frame_kind)) break;
    }
    add_run(stack, cframe, first);
  }
}

// From 3.12 on: the run ends with a shim frame that lies in the interpreter's native frame.
void walk_by_shims(PythonStack& stack, const PythonLayout& layout, const char* state) {
  const char* frame = follow(state, layout.current);
  if (layout.has_cframe && frame != nullptr) frame = follow(frame, layout.cframe_frame);
  int first = 0;
  for (; frame != nullptr; frame = follow(frame, layout.frame_previous)) {
    if (!has_room(stack)) return;
    if (load<char>(frame, layout.frame_kind) != kOwnedByNativeStack) {
      add_frame(stack, layout, frame);
      continue;
    }
    add_run(stack, frame, first);
    first = stack.frame_count;
  }
}

}  // namespace

void find_python() {
  python_layout = layout_here();
}

void walk_python(PythonStack& stack) {
  stack.frame_count = 0;
  stack.run_count = 0;
  if (python_layout == nullptr) return;
  const char* state = usable_state();
  if (state == nullptr) return;
  if (python_layout == &k310) return walk_by_pairs(stack, *python_layout, state);
  if (python_layout == &k311) return walk_by_cframes(stack, *python_layout, state);
  walk_by_shims(stack, *python_layout, state);
}

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
