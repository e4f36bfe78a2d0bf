#include "base/stop_request.h"

#include <csignal>
#include <utility>

namespace memduel {
namespace {

StopRequest own_request;

extern "C" void take_signal(int number) {
  own_request.take(number);
}

}  // namespace

void StopRequest::take(int number) noexcept {
  int none = 0;
  signal_.compare_exchange_strong(none, number);
  if (number == SIGINT) ++interrupts_;
}

Error StopRequest::error(const std::string& what, std::string where, std::string advice) const {
  return {signal_ == SIGINT ? ExitCode::interrupted : ExitCode::terminated, what, std::move(where),
          std::move(advice)};
}

const StopRequest& listen_for_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = take_signal;
    sigaction(number, &action, nullptr);
  }
  return own_request;
}

}  // namespace memduel
