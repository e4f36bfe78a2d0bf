#include "profilers/recorder/trace.h"

#include <cstring>

#include "memduel/annotate.h"
#include "profilers/recorder/blocks.h"
#include "profilers/recorder/counters.h"
#include "profilers/recorder/merge.h"
#include "profilers/recorder/modules.h"
#include "profilers/recorder/stacks.h"
#include "profilers/recorder/trace_writer.h"
#include "profilers/recorder/unwind.h"

namespace memduel::recorder {

namespace {

Lock trace_lock;
bool tracing = false;
std::uint32_t last_thread = 0;

class Locked {
 public:
  Locked() { trace_lock.lock(); }
  ~Locked() { trace_lock.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

// ---- room to unwind into, which a small thread stack does not have ---------------------------

constexpr int kScratches = 64;

struct Scratch {
  bool taken;
  NativeStack native;
  PythonStack python;
};

Scratch scratches[kScratches];

Scratch* take_scratch() {
  for (auto& scratch : scratches) {
    if (!__atomic_exchange_n(&scratch.taken, true, __ATOMIC_ACQUIRE)) return &scratch;
  }
  return nullptr;
}

void give_back(Scratch* scratch) {
  __atomic_store_n(&scratch->taken, false, __ATOMIC_RELEASE);
}

// ---- stacks -----------------------------------------------------------------------------------

// The last stack, outermost first: most samples share their outer frames with the one before.
struct LastStack {
  FrameWord frames[kMostMerged];
  std::uint32_t nodes[kMostMerged];
  int count;
};
LastStack last_stack;
FrameWord merged[kMostMerged];
std::uintptr_t last_ip = 0;

void tell_python_node(std::uint32_t parent, FrameWord frame) {
  begin_event(Event::python, 32);
  put_number(parent);
  put_number(code_of(frame));
  put_number(line_of(frame));
  note_node_told();
}

void tell_node(std::uint32_t parent, FrameWord frame) {
  if ((frame & kPythonFrame) != 0) return tell_python_node(parent, frame);
  tell_module_of(frame);
  begin_event(Event::node, 32);
  put_number(parent);
  put_signed(static_cast<std::int64_t>(frame - last_ip));
  last_ip = frame;
  note_node_told();
}

std::uint32_t node_of(const Scratch& scratch) {
  const int count = merge_stacks(scratch.native, scratch.python, merged);
  std::uint32_t node = kRootNode;
  bool shared = true;
  for (int i = 0; i < count; ++i) {
    const FrameWord frame = merged[count - 1 - i];
    if (shared && i < last_stack.count && last_stack.frames[i] == frame) {
      node = last_stack.nodes[i];
      continue;
    }
    shared = false;
    bool made = false;
    const std::uint32_t child = find_or_make_node(node, frame, made);
    if (child == 0) {
      count_lost();
      last_stack.count = i;
      return node;
    }
    if (made) tell_node(node, frame);
    node = child;
    last_stack.frames[i] = frame;
    last_stack.nodes[i] = node;
  }
  last_stack.count = count;
  return node;
}

void tell_thread() {
  if (tls.id == last_thread) return;
  last_thread = tls.id;
  begin_event(Event::thread, 16);
  put_number(tls.id);
}

void forget_frames() {
  forget_nodes();
  forget_modules();
  last_stack.count = 0;
}

// Unwinds outside the lock, calls `write(node)` inside it.
template <class Write>
void with_stack(Write write) {
  Scratch* scratch = take_scratch();
  if (scratch == nullptr) return count_lost();
  scratch->native.count = unwind_stack(scratch->native.frames, NativeStack::kMostFrames);
  walk_python(scratch->python);
  {
    const Locked locked;
    if (tracing) write(node_of(*scratch));
  }
  give_back(scratch);
}

}  // namespace

bool is_tracing() {
  return tracing;
}

bool open_trace() {
  if (!open_trace_file()) return false;
  tracing = true;
  return true;
}

bool reopen_trace_after_fork() {
  trace_lock.reset();
  for (auto& scratch : scratches) scratch.taken = false;
  drop_trace_file();
  forget_blocks();
  forget_frames();
  restart_nodes();
  restart_python_codes();
  restart_unwinding_after_fork();
  last_thread = 0;
  last_ip = 0;
  tracing = false;
  return open_trace();
}

void trace_allocation(void* block, std::size_t requested, std::int64_t bytes) {
  with_stack([&](std::uint32_t node) {
    if (settings.mode == Mode::sampled && !insert_block(block)) return count_lost();
    tell_thread();
    begin_event(Event::allocation, 64);
    put_number(node);
    put_number(requested);
    put_signed(bytes - static_cast<std::int64_t>(requested));
    put_address(block);
  });
}

bool trace_free(void* block) {
  const Locked locked;
  if (!tracing) return false;
  if (settings.mode == Mode::sampled && !erase_block(block)) return false;
  tell_thread();
  begin_event(Event::free, 16);
  put_address(block);
  return true;
}

void trace_revival(void* block) {
  const Locked locked;
  if (!tracing) return;
  if (settings.mode == Mode::sampled && !insert_block(block)) return count_lost();
  begin_event(Event::revive, 16);
  put_address(block);
}

void trace_mapping(void* at, std::size_t bytes) {
  with_stack([&](std::uint32_t node) {
    tell_thread();
    begin_event(Event::mapping, 48);
    put_number(node);
    put_number(bytes);
    put_address(at);
  });
}

void trace_unmapping(void* at, std::size_t bytes) {
  const Locked locked;
  if (!tracing) return;
  tell_thread();
  begin_event(Event::unmapping, 32);
  put_number(bytes);
  put_address(at);
}

void trace_mark(int kind, int round, const char* phase) {
  const Locked locked;
  if (!tracing) return;
  begin_event(Event::mark, kPhaseNameBytes + 48);
  put_number(now_ns());
  put_number(static_cast<std::uint64_t>(kind));
  put_signed(round);
  const std::size_t bytes = phase == nullptr ? 0 : strlen(phase);
  put_text(phase, bytes < kPhaseNameBytes ? bytes : kPhaseNameBytes - 1);
  finish_block();
}

void trace_thread_phase(const char* phase) {
  const Locked locked;
  if (!tracing) return;
  tell_thread();
  begin_event(Event::thread_phase, kPhaseNameBytes + 16);
  const std::size_t bytes = phase == nullptr ? 0 : strlen(phase);
  put_text(phase, bytes < kPhaseNameBytes ? bytes : kPhaseNameBytes - 1);
}

void trace_unload() {
  const Locked locked;
  forget_unwind_rules();
  forget_frames();
}

void flush_trace() {
  const Locked locked;
  if (!tracing) return;
  finish_block();
  // One block more with the counters of now, so that the file ends with the totals.
  begin_event(Event::thread, 16);
  put_number(last_thread);
  finish_block();
}

}  // namespace memduel::recorder
