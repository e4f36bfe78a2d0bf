#include "snapshot.h"

#include <signal.h>

#include <cstdlib>
#include <cstring>

#include "counters.h"
#include "memduel/annotate.h"
#include "proc_lines.h"
#include "process.h"
#include "resident_pages.h"
#include "stacks/unwind.h"
#include "trace.h"

namespace memduel::recorder {

Snapshots snapshots = Snapshots::unknown;

namespace {

enum class When { peak, bytes, mark, signal };

struct Rule {
  When when;
  std::uint64_t percent;
  std::uint64_t bytes;
  int round;
  char phase[kPhaseNameBytes];
};
Rule rule;

/// Far from the peak a snapshot is replaced by one that has a third more: each of them costs what
/// all that is live costs.
constexpr std::uint64_t kFarStep = 3;
/// At a program's end by one that has a third more, or a tenth more than any look saw: an exit
/// itself touches a few pages.
constexpr std::uint64_t kEndStep = 3;
constexpr std::uint64_t kTouchedStep = 20;

// All of the program alone: the recorder's tables grow with it, and would make each of its moments
// a new peak.
std::uint64_t held = 0;  ///< resident at the last snapshot
std::uint64_t seen = 0;  ///< most that any look saw
std::uint64_t own = 0;   ///< the recorder's resident bytes, when they were last looked at
bool looking = false;    ///< a thread does; others that come meanwhile need not
bool asked = false;      ///< by a signal that came in the middle of the recorder
bool failed = false;

std::uint64_t without_own(std::uint64_t resident) {
  return resident - (own < resident ? own : resident);
}

// After `own` was looked at.
void take(std::uint64_t resident) {
  if (trace_snapshot()) {
    held = without_own(resident);
  } else {
    failed = true;
  }
}

// Whether the thread is below exit(). Destructors of libraries are called by the compiler's
// __do_global_dtors_aux, which a walk does not get past.
bool is_exiting() {
  constexpr std::uintptr_t kMostBytes = 32;  // of a function that only calls another
  const auto begin = reinterpret_cast<std::uintptr_t>(exit_function());
  return has_on_stack(begin, begin + kMostBytes);
}

// At its end a program frees everything, and its allocator holds the pages: the peak before says
// more, unless it had much less, or more is resident than at any look: pages that were touched
// since.
bool is_worth(std::uint64_t resident) {
  return resident > held + held / kEndStep || resident > seen + seen / kTouchedStep ||
         !is_exiting();
}

bool is_due(std::uint64_t resident) {
  if (rule.when == When::bytes) return held == 0 && resident >= rule.bytes;
  if (rule.when != When::peak) return false;
  // The known peak may be of several processes together, of which this one never has as much.
  if (resident < rule.bytes) return resident > held + held / kFarStep;
  return resident * rule.percent / 100 > held && is_worth(resident);
}

void look_in_turn() {
  const std::uint64_t resident = resident_bytes();
  const bool signalled = __atomic_exchange_n(&asked, false, __ATOMIC_RELAXED);
  bool due = signalled || is_due(without_own(resident));
  if (due) {
    own = own_resident_bytes();
    due = signalled || is_due(without_own(resident));
  }
  if (without_own(resident) > seen) seen = without_own(resident);
  if (due) take(resident);
}

void look() {
  const Turn mine(looking);
  if (mine && is_tracing()) look_in_turn();
}

// Of the kernel's peak, what the program had at least: a table of the recorder that grew was there
// twice, the second time half as large.
void see_peak_of_kernel() {
  const std::uint64_t peak = peak_resident_bytes();
  const std::uint64_t now = own_resident_bytes();
  const std::uint64_t most_own = now + now / 2;
  if (peak > most_own && peak - most_own > seen) seen = peak - most_own;
}

void on_signal(int /*number*/) {
  const KeepErrno keep;
  __atomic_store_n(&asked, true, __ATOMIC_RELAXED);
  if (tls.busy) return;  // the next look takes it
  const Busy busy;
  look();
}

bool begins_with(const char*& text, const char* word) {
  const std::size_t length = strlen(word);
  if (strncmp(text, word, length) != 0) return false;
  text = skip_spaces(text + length);
  return true;
}

bool parse_rule(const char* text) {
  rule = {};
  if (begins_with(text, kSnapshotAtPeak)) {
    rule.when = When::peak;
    rule.percent = read_decimal(text);
    text = skip_spaces(text);
    rule.bytes = read_decimal(text);
    return rule.percent > 0 && rule.percent <= 100;
  }
  if (begins_with(text, kSnapshotAtSize)) {
    rule.when = When::bytes;
    rule.bytes = read_decimal(text);
    return rule.bytes > 0;
  }
  if (begins_with(text, kSnapshotAtMark)) {
    rule.when = When::mark;
    rule.round = static_cast<int>(read_decimal(text));
    strncpy(rule.phase, skip_spaces(text), sizeof rule.phase - 1);
    return true;
  }
  rule.when = When::signal;
  return begins_with(text, kSnapshotOnSignal);
}

}  // namespace

void read_snapshot_rule() {
  const char* text = getenv(kSnapshotVariable);
  snapshots = Snapshots::none;
  if (text == nullptr || settings.mode == Mode::count || !parse_rule(text)) return;
  snapshots = Snapshots::some;
  if (rule.when != When::signal) return;
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR2, &action, nullptr);
}

void look_before_loss(std::int64_t bytes) {
  if (takes_snapshots() && bytes >= kLargeLoss) look();
}

void look_on_the_way(bool loses) {
  if (!takes_snapshots()) return;
  if (loses || rule.when == When::bytes || __atomic_load_n(&asked, __ATOMIC_RELAXED)) look();
}

void look_at_mark(int kind, int round, const char* phase) {
  if (!takes_snapshots()) return;
  if (rule.when != When::mark) return look();
  const bool of_phase = rule.phase[0] != '\0';
  const bool is_phase = kind == MEMDUEL_MARK_PHASE && phase != nullptr;
  const bool is_it =
      of_phase ? is_phase && page->round.round == rule.round && strcmp(phase, rule.phase) == 0
               : kind == MEMDUEL_MARK_ROUND_BEGIN && round == rule.round;
  const Turn mine(looking);
  if (!is_it || !mine || held != 0) return;
  own = own_resident_bytes();
  take(resident_bytes());
}

void look_at_end() {
  if (!takes_snapshots()) return;
  {
    const Turn mine(looking);  // else another thread uses the buffers of a look
    if (mine && is_tracing()) {
      look_in_turn();
      see_peak_of_kernel();
    }
  }
  trace_info("peak_rss_bytes", seen);
  if (failed) trace_info("snapshot_failed", 1);
}

void restart_snapshots() {
  held = 0;
  seen = 0;
  own = 0;
  looking = false;
  asked = false;
  failed = false;
}

}  // namespace memduel::recorder
