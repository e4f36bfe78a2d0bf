// The slow path: entered every publish_bytes, at a new high, and where a sample is due.
#include "account.h"

#include "counters.h"
#include "hooks/next.h"
#include "mappings.h"
#include "process.h"
#include "sampler.h"
#include "snapshot.h"
#include "trace.h"
#include "window.h"

namespace memduel::recorder {

__thread ThreadState tls;

namespace {

// Grants requested bytes up to the next visit; `left` is what the last allocation went over the
// grant, negated. Where the draw was used up the allocation at hand is a sample: gives the mean of
// that draw, else 0.
std::uint64_t grant_left() {
  tls.until_sample += tls.left;
  std::uint64_t drawn_from = 0;
  if (tls.until_sample < 0) {
    drawn_from = tls.interval;
    tls.until_sample = draw_interval();
  }
  const std::int64_t most = publish_bytes();
  std::int64_t grant = tls.until_sample < most ? tls.until_sample : most;
  if (tls.leaving && grant > 0) grant = 0;
  if (grant > 0) tls.until_sample -= grant;
  tls.left = grant;
  tls.granted = grant;
  return drawn_from;
}

// A signal handler came in the middle of the recorder, which its event would have to wait for.
[[gnu::noinline, gnu::cold]] void lose_event() {
  if (is_tracing()) count_lost();
}

}  // namespace

void* visit_allocation(void* block, std::size_t requested, std::int64_t bytes) {
  if (tls.busy) return block;
  const Busy busy;
  if (tls.id == 0) start_thread();
  if (tls.room < 0) note_new_high();
  if (tls.left < 0 || tls.high >= tls.publish_at) {
    publish();
    const std::uint64_t drawn_from = tls.left < 0 ? grant_left() : 0;
    if (drawn_from > 0 && is_tracing()) trace_sample(block, requested, bytes, drawn_from);
    look_on_the_way(false);
  }
  if (tls.id == __atomic_load_n(&waiting_thread, __ATOMIC_RELAXED))
    look_for_callback(requested, bytes);
  return block;
}

void visit_next_allocation() {
  publish();
  tls.until_sample += tls.left + 1;  // what is taken from the grant is still due
  tls.left = -1;
  tls.granted = -1;
}

void visit_free() {
  if (tls.busy) return;
  const Busy busy;
  if (tls.id == 0) start_thread();
  look_at_mappings_on_the_way();
  publish_loss();
  look_on_the_way(true);
}

void* note_birth(void* block, std::size_t requested, std::int64_t bytes, const Registers& caller) {
  if (tls.busy) {
    lose_event();
    return block;
  }
  const Busy busy;
  if (tls.id == 0) start_thread();
  if (is_tracing()) trace_birth(block, requested, bytes, caller);
  return block;
}

bool note_death(void* block) {
  if (tls.busy) {
    lose_event();
    return false;
  }
  const Busy busy;
  if (tls.id == 0) start_thread();
  if (takes_snapshots() || page->sparse_count > 0) {
    const std::int64_t bytes = block_bytes(block);
    if (bytes >= kLargeLoss) look_at_mappings_on_the_way();
    look_before_loss(bytes);
  }
  return trace_free(block);
}

void note_revival(void* block) {
  if (tls.busy) return lose_event();
  const Busy busy;
  trace_revival(block);
}

}  // namespace memduel::recorder
