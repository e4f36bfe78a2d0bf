#include "trace.h"

#include <sys/single_threaded.h>

#include <cstring>

#include "blocks.h"
#include "counters.h"
#include "resident_pages.h"
#include "sampler.h"
#include "snapshot.h"
#include "stacks/modules.h"
#include "stacks/python.h"
#include "stacks/stacks.h"
#include "trace_writer.h"

namespace memduel::recorder {

namespace {

Lock trace_lock;
bool tracing = false;
std::uint32_t last_thread = 0;

// Without a second thread the lock is left alone; who would make one meanwhile is this thread.
class Locked {
 public:
  Locked() : alone_(__libc_single_threaded != 0) {
    if (!is_recorded_process() && tracing) {
      trace_lock.reset();
      stop_trace_in_child();
    }
    if (!alone_) trace_lock.lock();
  }
  ~Locked() {
    if (!alone_) trace_lock.unlock();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  bool alone_;
};

// ---- room to walk into, which a small thread stack does not have ------------------------------

constexpr int kScratches = 64;

struct Scratch {
  int nodes_known;  ///< of the outermost frames of `native`
  std::uint32_t frames_forgotten;
  NativeStack native;
  std::uint32_t nodes[NativeStack::kMostFrames];
  PythonStack python;
};

Scratch scratches[kScratches];

// Apart from the scratches, so that a forked child does not write to all of them.
struct alignas(64) Taken {
  bool now;
};
Taken taken[kScratches];

bool take(std::size_t index) {
  if (__libc_single_threaded == 0) {
    return !__atomic_exchange_n(&taken[index].now, true, __ATOMIC_ACQUIRE);
  }
  taken[index].now = true;
  return true;
}

// A thread comes back to the same one, where the frames of its last stack are.
Scratch* take_scratch() {
  for (std::size_t i = 0; i < kScratches; ++i) {
    const std::size_t index = (tls.id + i) % kScratches;
    if (take(index)) return &scratches[index];
  }
  return nullptr;
}

void give_back(Scratch* scratch) {
  __atomic_store_n(&taken[scratch - scratches].now, false, __ATOMIC_RELEASE);
}

// ---- stacks -----------------------------------------------------------------------------------

// The last stack with Python frames, outermost first.
struct LastStack {
  FrameWord frames[kMostMerged];
  std::uint32_t nodes[kMostMerged];
  int count;
};
LastStack last_stack;
FrameWord merged[kMostMerged];
std::uintptr_t last_ip = 0;
std::uint32_t frames_forgotten = 0;  // how often

void tell_python_node(std::uint32_t parent, FrameWord frame) {
  write_record(events::Python{parent, code_of(frame), line_of(frame)});
}

void tell_native_node(std::uint32_t parent, std::uintptr_t ip) {
  write_record(events::Node{parent, static_cast<std::int64_t>(ip - last_ip)});
  last_ip = ip;
}

void tell_node(std::uint32_t parent, FrameWord frame) {
  if ((frame & kPythonFrame) != 0) {
    tell_python_node(parent, frame);
  } else {
    tell_native_node(parent, frame);
  }
}

// The child of `parent` for `frame`; 0: no memory. Its module is told now, because another may be
// at its place when the node is.
std::uint32_t child_of(std::uint32_t parent, FrameWord frame) {
  bool made = false;
  const std::uint32_t child = find_or_make_node(parent, frame, made);
  if (child == 0) count_lost();
  if (made && (frame & kPythonFrame) == 0) tell_module_of(frame);
  return child;
}

std::uint32_t node_of_merged(const Scratch& scratch) {
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
    last_stack.count = i;
    const std::uint32_t child = child_of(node, frame);
    if (child == 0) return node;
    node = child;
    last_stack.frames[i] = frame;
    last_stack.nodes[i] = node;
  }
  last_stack.count = count;
  return node;
}

std::uint32_t node_of(Scratch& scratch) {
  if (scratch.python.run_count > 0) {
    scratch.nodes_known = 0;
    return node_of_merged(scratch);
  }
  const NativeStack& native = scratch.native;
  int known = scratch.frames_forgotten == frames_forgotten ? scratch.nodes_known : 0;
  scratch.frames_forgotten = frames_forgotten;
  std::uint32_t node = known == 0 ? kRootNode : scratch.nodes[known - 1];
  for (; known < native.count; ++known) {
    const std::uint32_t child = child_of(node, native.frames[known].ip);
    if (child == 0) break;
    node = child;
    scratch.nodes[known] = node;
  }
  scratch.nodes_known = known;
  return node;
}

void tell_thread() {
  if (tls.id == last_thread) return;
  last_thread = tls.id;
  write_record(events::Thread{tls.id});
}

// Told in each block anew, so that a lost one does not spoil the weights of the rest.
void tell_interval(std::uint64_t interval) {
  const bool begun = trace_buffer.used != RunningBlock::kNone;
  if (begun && interval == trace_buffer.interval) return;
  write_record(events::Interval{interval});
  trace_buffer.interval = interval;
}

void tell_allocation(std::uint32_t node, const void* block, std::size_t requested,
                     std::int64_t bytes) {
  const std::uint32_t number = told_number(node, tell_node);
  tell_thread();
  write_record(events::Allocation{number, requested, bytes - static_cast<std::int64_t>(requested),
                                  address_of(block)});
}

void keep_live(std::uint32_t node, const void* block, std::size_t requested, std::int64_t bytes) {
  constexpr std::uint16_t kMost = 0xffff;
  const std::int64_t extra = bytes - static_cast<std::int64_t>(requested);
  const int round = page->round.kind == ScopeKind::round ? page->round.round : 0;
  LiveRecord record{const_cast<void*>(block), requested, node, kMost, kMost};
  if (extra < kMost) record.extra = static_cast<std::uint16_t>(extra > 0 ? extra : 0);
  if (round < kMost) record.round = static_cast<std::uint16_t>(round);
  LiveRecord reborn;
  if (insert_live(record)) return;
  erase_live(block, reborn);  // its free went past the recorder
  if (!insert_live(record)) count_lost();
}

std::string_view phase_text(const char* phase) {
  const std::size_t bytes = phase == nullptr ? 0 : strlen(phase);
  return {phase, bytes < kPhaseNameBytes ? bytes : kPhaseNameBytes - 1};
}

void forget_stacks() {
  last_stack.count = 0;
  ++frames_forgotten;
}

void forget_frames() {
  forget_nodes();
  forget_modules();
  forget_stacks();
}

// They are written to the trace again as they come: a program with more stacks makes its trace
// larger, and not its memory. Blocks of a sampled snapshot refer to nodes.
void make_room_for_nodes() {
  if (!has_most_nodes() || (settings.mode == Mode::sampled && takes_snapshots())) return;
  discard_nodes();
  forget_stacks();
}

// Walks outside the lock, calls `write(node)` inside it.
template <class Walk, class Write>
[[gnu::always_inline]] inline void with_stack(Walk walk, Write write) {
  Scratch* scratch = take_scratch();
  if (scratch == nullptr) return count_lost();
  walk(scratch->native);
  if (scratch->nodes_known > scratch->native.kept) scratch->nodes_known = scratch->native.kept;
  walk_python(scratch->python);
  {
    const Locked locked;
    if (tracing) {
      make_room_for_nodes();
      write(node_of(*scratch));
    }
  }
  give_back(scratch);
}

}  // namespace

bool is_tracing() {
  return tracing;
}

bool open_trace() {
  find_python();
  if (!open_trace_file()) return false;
  tracing = true;
  return true;
}

void stop_trace_in_child() {
  tracing = false;
  drop_trace_file();
}

bool reopen_trace_after_fork() {
  trace_lock.reset();  // marks take it without a trace too
  if (!tracing) return true;
  memset(taken, 0, sizeof taken);
  drop_trace_file();
  forget_blocks();
  forget_live();
  forget_frames();
  restart_nodes();
  restart_python_codes();
  restart_unwinding_after_fork();
  restart_sampling();
  restart_snapshots();
  last_thread = 0;
  last_ip = 0;
  tracing = false;
  if (!open_trace()) return false;
  if (takes_snapshots()) write_fork_pages();
  return true;
}

void trace_sample(void* block, std::size_t requested, std::int64_t bytes, std::uint64_t interval) {
  count_sample();
  with_stack([](NativeStack& stack) { walk_stack(stack); },
             [&](std::uint32_t node) {
               if (!insert_block(block)) return count_lost();
               tell_interval(interval);
               tell_allocation(node, block, requested, bytes);
             });
}

void trace_birth(const void* block, std::size_t requested, std::int64_t bytes,
                 const Registers& caller) {
  with_stack([&](NativeStack& stack) { walk_stack(stack, caller); },
             [&](std::uint32_t node) {
               if (settings.mode == Mode::exact) {
                 tell_allocation(node, block, requested, bytes);
               } else {
                 keep_live(node, block, requested, bytes);
               }
             });
}

bool trace_free(void* block) {
  const Locked locked;
  if (!tracing) return false;
  if (settings.mode == Mode::sampled) {
    tls.freed.block = nullptr;
    const bool live = takes_snapshots() && erase_live(block, tls.freed);
    tls.freed_sample = erase_block(block);
    if (!tls.freed_sample) return live;
  }
  tell_thread();
  write_record(events::Free{address_of(block)});
  return true;
}

void trace_revival(void* block) {
  const Locked locked;
  if (!tracing) return;
  if (settings.mode == Mode::sampled) {
    if (tls.freed.block == block) insert_live(tls.freed);
    if (!tls.freed_sample) return;
    if (!insert_block(block)) return count_lost();
  }
  tell_thread();
  write_record(events::Revive{address_of(block)});
}

void trace_mapping(void* at, std::size_t bytes) {
  with_stack([](NativeStack& stack) { walk_stack(stack); },
             [&](std::uint32_t node) {
               const std::uint32_t number = told_number(node, tell_node);
               tell_thread();
               write_record(events::Mapping{number, bytes, address_of(at)});
             });
}

void trace_unmapping(void* at, std::size_t bytes) {
  const Locked locked;
  if (!tracing) return;
  tell_thread();
  write_record(events::Unmapping{bytes, address_of(at)});
}

void trace_touched(std::uintptr_t at, std::size_t bytes, std::size_t touched) {
  const Locked locked;
  if (!tracing) return;
  write_record(events::Touched{touched, bytes, {at}});
}

void trace_mark(int kind, int round, const char* phase) {
  const Locked locked;
  if (!tracing) return;
  write_record(events::Mark{now_ns(), static_cast<std::uint64_t>(kind), round, phase_text(phase)});
  finish_block();
}

void trace_thread_phase(const char* phase) {
  const Locked locked;
  if (!tracing) return;
  tell_thread();
  write_record(events::ThreadPhase{phase_text(phase)});
}

void trace_unload() {
  const Locked locked;
  forget_unwind_rules();
  forget_frames();
}

bool trace_snapshot() {
  const Locked locked;
  if (!tracing) return false;
  if (settings.mode == Mode::sampled)  // its blocks name nodes by their numbers
    visit_live([](const LiveRecord& block) { told_number(block.node, tell_node); });
  return write_resident_pages();
}

void trace_info(const char* key, std::uint64_t value) {
  const Locked locked;
  if (tracing) tell_info(key, value);
}

void flush_trace() {
  const Locked locked;
  if (!tracing) return;
  finish_block();
  // One block more with the counters of now, so that the file ends with the totals.
  write_record(events::Thread{last_thread});
  finish_block();
  if ((page->flags & kForked) != 0) retell_command_line();
}

}  // namespace memduel::recorder
