#include "experiment/supervision/daemons.h"

#include "experiment/marks/monotonic.h"

namespace memduel {
namespace {

/// Helpers of a program that ends, as Python's resource tracker, may outlive it so long.
constexpr std::int64_t kLingering = kSecondNs / 2;

}  // namespace

bool Daemons::take_over(SupervisedProcess& process, const ExitRecord& record) {
  const bool expected_to_go_on = process.spec().end == End::stop || !process.is_ready;
  if (record.status != 0 || !expected_to_go_on || process.asked_to_stop) return false;
  process.is_daemon = processes_.has_living(process, record.t_ns);
  process.trace.outlived_its_process = process.is_daemon;
  if (process.is_daemon) process.trace.exit = record;
  return process.is_daemon;
}

std::vector<std::pair<SupervisedProcess*, ExitRecord>> Daemons::ended(std::int64_t now_ns) {
  std::vector<std::pair<SupervisedProcess*, ExitRecord>> gone;
  for (SupervisedProcess& process : processes_.started()) {
    if (!process.is_daemon || process.state != SupervisedProcess::State::running) continue;
    if (processes_.has_living(process, now_ns)) continue;
    ExitRecord record = *process.trace.exit;
    if (now_ns - record.t_ns < kLingering) {
      process.is_daemon = false;
      process.trace.outlived_its_process = false;
    }
    record.t_ns = now_ns;
    gone.emplace_back(&process, record);
  }
  return gone;
}

}  // namespace memduel
