#include "unwind.h"

#include <cstring>

#include "cfi.h"
#include "system.h"

extern "C" void* __libc_stack_end;
extern "C" char __ehdr_start __attribute__((visibility("hidden")));
extern "C" char _end __attribute__((visibility("hidden")));

namespace memduel::recorder {

namespace {

// ---- rules by address -------------------------------------------------------------------------

// One word per entry, so that threads need no lock: 47 bits of address, 13 of rule number, 4 of
// generation.
constexpr std::size_t kCacheEntries = std::size_t{1} << 15;
constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << 47) - 1;
constexpr std::uint32_t kMostRules = 1U << 13;
std::uint64_t cache[kCacheEntries];
std::uint64_t unloads = 0;                  // how often libraries were closed
constexpr std::uint64_t kGenerations = 15;  // 1 to 15: an entry of zeros is never valid

UnwindRule rules[kMostRules];
std::uint32_t rule_count = 0;
Lock rules_lock;

std::size_t cache_slot(std::uintptr_t pc) {
  return static_cast<std::size_t>((pc * 0x9e3779b97f4a7c15U) >> 49);
}

// The number of an equal rule; programs have a few hundred different ones.
std::uint32_t rule_number(const UnwindRule& rule) {
  const std::uint32_t count = __atomic_load_n(&rule_count, __ATOMIC_ACQUIRE);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (rules[i] == rule) return i;
  }
  rules_lock.lock();
  std::uint32_t number = rule_count;
  if (number < kMostRules) {
    rules[number] = rule;
    __atomic_store_n(&rule_count, number + 1, __ATOMIC_RELEASE);
  }
  rules_lock.unlock();
  return number;
}

UnwindRule rule_of(std::uintptr_t pc) {
  const std::uint64_t generation = 1 + __atomic_load_n(&unloads, __ATOMIC_RELAXED) % kGenerations;
  const std::uint64_t tag = (generation << 60) | (pc & kAddressMask);
  constexpr std::uint64_t kRuleMask = std::uint64_t{kMostRules - 1} << 47;
  std::uint64_t* slot = &cache[cache_slot(pc)];
  const std::uint64_t entry = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if ((entry & ~kRuleMask) == tag) return rules[(entry & kRuleMask) >> 47];
  const UnwindRule rule = find_unwind_rule(pc);
  const std::uint64_t number = rule_number(rule);
  if (number < kMostRules) __atomic_store_n(slot, tag | (number << 47), __ATOMIC_RELEASE);
  return rule;
}

// ---- reading the stack ------------------------------------------------------------------------

// glibc puts a thread's control block at the upper end of its stack; the main thread's end is known
// to the dynamic linker. A stack that is neither (a signal stack, a coroutine) is read page by page
// through the kernel, which refuses instead of faulting.
class Stack {
 public:
  explicit Stack(std::uintptr_t sp) : low_(sp) {
    constexpr std::uintptr_t kMostBytes = std::uintptr_t{64} << 20;
    const auto thread_end = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
    const auto main_end = reinterpret_cast<std::uintptr_t>(__libc_stack_end);
    if (sp < main_end && main_end - sp < kMostBytes) {
      high_ = main_end;
    } else if (sp < thread_end && thread_end - sp < kMostBytes / 4) {
      high_ = thread_end;
    }
  }

  bool read(std::uintptr_t at, std::uintptr_t& value) {
    if ((at & 7) != 0) return false;
    if (at < low_ || at + 8 > high_) {
      if (!readable(at)) return false;
    }
    value = word(at);
    return true;
  }

  /// 0: it is not the thread's own.
  [[nodiscard]] std::uintptr_t high() const { return high_; }
  /// Whether all below `end`, from the innermost frame on, is the thread's own.
  [[nodiscard]] bool reaches(std::uintptr_t end) const { return end <= high_; }
  [[nodiscard]] static std::uintptr_t word(std::uintptr_t at) {
    std::uintptr_t value = 0;
    memcpy(&value, reinterpret_cast<const void*>(at), sizeof value);
    return value;
  }

 private:
  bool readable(std::uintptr_t at) {
    const std::uintptr_t wanted = at & ~std::uintptr_t{4095};
    if (wanted == page_) return true;
    char byte = 0;
    struct {
      void* base;
      std::size_t length;
    } local{&byte, 1}, remote{reinterpret_cast<void*>(at), 1};
    const long got =
        raw_syscall(SYS_process_vm_readv, raw_syscall(SYS_getpid), reinterpret_cast<long>(&local),
                    1, reinterpret_cast<long>(&remote), 1, 0);
    if (got != 1) return false;
    page_ = wanted;
    return true;
  }

  std::uintptr_t low_;
  std::uintptr_t high_ = 0;
  std::uintptr_t page_ = 1;
};

// Linux' signal frame: a ucontext at rsp, its general registers from byte 40.
bool leave_signal_frame(Stack& stack, Registers& registers) {
  constexpr std::uintptr_t kRegisters = 40;
  const std::uintptr_t context = registers.sp + kRegisters;
  Registers interrupted{};
  if (!stack.read(context + 8 * 16, interrupted.ip)) return false;
  if (!stack.read(context + 8 * 15, interrupted.sp)) return false;
  if (!stack.read(context + 8 * 10, interrupted.bp)) return false;
  interrupted.exact_ip = true;
  registers = interrupted;
  return true;
}

bool find_cfa(Stack& stack, const UnwindRule& rule, const Registers& registers,
              std::uintptr_t& cfa) {
  const auto offset = static_cast<std::uintptr_t>(std::intptr_t{rule.cfa_offset});
  switch (rule.cfa) {
    case UnwindRule::rsp_plus:
      cfa = registers.sp + offset;
      return true;
    case UnwindRule::rbp_plus:
      cfa = registers.bp + offset;
      return true;
    case UnwindRule::rbp_indirect:
      return stack.read(registers.bp + offset, cfa);
    case UnwindRule::plt_entry:
      cfa = registers.sp + 8 + ((registers.ip & 15) >= 11 ? 8 : 0);
      return true;
    default:
      return false;
  }
}

// One frame outwards. False: there is none, or it cannot be found.
bool step(Stack& stack, const UnwindRule& rule, Registers& registers, NativeFrame& frame) {
  if (rule.cfa == UnwindRule::signal_frame) {
    frame.cfa = registers.sp;
    return leave_signal_frame(stack, registers);
  }
  if (rule.cfa == UnwindRule::outermost || rule.cfa == UnwindRule::unsupported) {
    frame.way = NativeFrame::nowhere;
    return false;
  }
  if (!find_cfa(stack, rule, registers, frame.cfa) || frame.cfa <= registers.sp) return false;
  Registers caller{};
  if (!stack.read(frame.cfa - 8, caller.ip) || caller.ip < 4096) return false;
  caller.sp = frame.cfa;
  caller.bp = registers.bp;
  const auto offset = static_cast<std::uintptr_t>(std::intptr_t{rule.rbp_offset});
  if (rule.rbp == UnwindRule::at_cfa_plus) frame.saved_bp = frame.cfa + offset;
  if (rule.rbp == UnwindRule::at_rbp_plus) frame.saved_bp = registers.bp + offset;
  if (rule.rbp != UnwindRule::same && !stack.read(frame.saved_bp, caller.bp)) return false;
  const bool plain = rule.cfa == UnwindRule::rsp_plus || rule.cfa == UnwindRule::rbp_plus;
  const bool inside =
      frame.saved_bp == 0 || (frame.saved_bp >= registers.sp && frame.saved_bp <= frame.cfa - 8);
  if (plain && inside) frame.way = NativeFrame::by_stack;
  registers = caller;
  return true;
}

bool is_own_code(std::uintptr_t ip) {
  return ip >= reinterpret_cast<std::uintptr_t>(&__ehdr_start) &&
         ip < reinterpret_cast<std::uintptr_t>(&_end);
}

// ---- what is still as it was -------------------------------------------------------------------

// Stacks of an earlier era are not compared with: a library was closed, or this is a forked child
// and another thread was in the middle of writing them.
std::uint64_t era = 0;

// How many of the outermost frames may be compared with: none of another stack.
int comparable(const NativeStack& stack, const Stack& memory, std::uint64_t now) {
  const bool usable = stack.count > 0 && stack.frames[0].way == NativeFrame::nowhere &&
                      stack.era == now && memory.reaches(stack.frames[0].sp);
  return usable ? stack.count : 0;
}

// The walk has come to the frame `known - 1` with the registers of then. Walking on would read the
// same words as then; as long as they have the same values it would come to the same frames. 0: to
// all of them; else the frame beyond which it would go elsewhere.
int first_changed(const NativeFrame* frames, int known) {
  for (int i = known - 1; i > 0; --i) {
    const NativeFrame& frame = frames[i];
    const NativeFrame& caller = frames[i - 1];
    if (frame.way != NativeFrame::by_stack || Stack::word(frame.cfa - 8) != caller.ip + 1) return i;
    if (frame.saved_bp != 0 && Stack::word(frame.saved_bp) != caller.bp) return i;
  }
  return 0;
}

// What is new comes behind what was kept, outermost first.
void append_fresh(NativeStack& stack, int kept, int fresh) {
  const int missing = kept + fresh - NativeStack::kMostFrames;
  stack.kept = missing > 0 ? 0 : kept;
  if (missing > 0) {
    kept -= missing;
    memmove(stack.frames, stack.frames + missing,
            static_cast<std::size_t>(kept) * sizeof(NativeFrame));
  }
  stack.count = kept + fresh;
  for (int i = 0; i < fresh; ++i) stack.frames[stack.count - 1 - i] = stack.fresh[i];
}

}  // namespace

void walk_stack(NativeStack& stack, const Registers& from) {
  const std::uint64_t now = __atomic_load_n(&era, __ATOMIC_RELAXED);
  Registers registers = from;
  Stack memory(registers.sp);
  int known = comparable(stack, memory, now);
  stack.era = now;
  int fresh = 0;
  for (bool more = true; more && fresh < NativeStack::kMostFrames;) {
    const std::uintptr_t ip = registers.exact_ip ? registers.ip : registers.ip - 1;
    const bool own = fresh == 0 && is_own_code(ip);
    while (known > 0 && stack.frames[known - 1].sp < registers.sp) --known;
    if (known > 0 && !own) {
      const NativeFrame& frame = stack.frames[known - 1];
      if (frame.ip == ip && frame.sp == registers.sp && frame.bp == registers.bp) {
        const int changed = first_changed(stack.frames, known);
        if (changed == 0) return append_fresh(stack, known, fresh);
        known = changed;
      }
    }
    NativeFrame& frame = stack.fresh[fresh];
    frame = {ip, 0, registers.sp, registers.bp, 0, NativeFrame::by_rule};
    registers.exact_ip = false;
    more = step(memory, rule_of(ip), registers, frame);
    if (!own) ++fresh;
  }
  append_fresh(stack, 0, fresh);
}

[[gnu::noinline]] void walk_stack(NativeStack& stack) {
  Registers here{};
  asm volatile("lea (%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
               : "=r"(here.ip), "=r"(here.sp), "=r"(here.bp));
  here.exact_ip = true;
  walk_stack(stack, here);
}

bool has_on_stack(std::uintptr_t begin, std::uintptr_t end) {
  const auto low = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const std::uintptr_t high = Stack(low).high();
  for (std::uintptr_t at = low; at + sizeof at <= high; at += sizeof at)
    if (const std::uintptr_t word = Stack::word(at); begin < word && word < end) return true;
  return false;
}

void forget_unwind_rules() {
  const std::uint64_t now = __atomic_add_fetch(&unloads, 1, __ATOMIC_RELEASE);
  if (now % kGenerations == 0) memset(cache, 0, sizeof cache);  // the generations come round again
  __atomic_add_fetch(&era, 1, __ATOMIC_RELEASE);
}

void restart_unwinding_after_fork() {
  rules_lock.reset();
  ++era;
}

}  // namespace memduel::recorder
