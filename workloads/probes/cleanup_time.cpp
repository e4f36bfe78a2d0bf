#include "workloads/probes/cleanup_time.h"

#include "base/metric_catalogue.h"
#include "memduel/annotate.h"

namespace memduel {

void CleanupTime::begin_round() {
  const std::lock_guard lock(mutex_);
  if (!first_round_) first_round_ = Clock::now();
  seconds_ = 0;
  heap_seconds_ = 0;
}

void CleanupTime::add(const CleanupReport& report) {
  const std::lock_guard lock(mutex_);
  seconds_ += report.seconds;
  heap_seconds_ += report.heap_seconds;
  all_seconds_ += report.seconds;
}

void CleanupTime::end_round() {
  const std::lock_guard lock(mutex_);
  if (!first_round_) return;
  const double passed = std::chrono::duration<double>(Clock::now() - *first_round_).count();
  memduel_gauge(kCleanupSeconds, seconds_);
  memduel_gauge(kHeapCleanupSeconds, heap_seconds_);
  if (passed > 0) memduel_gauge(kCleanupRatio, all_seconds_ / passed);
}

}  // namespace memduel
