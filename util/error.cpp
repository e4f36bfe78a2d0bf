#include "util/error.h"

#include <unistd.h>

#include <csignal>
#include <utility>

#include "util/file.h"

namespace memduel {

Error::Error(ExitCode code, const std::string& what, std::string where, std::string advice)
    : std::runtime_error(what), code_(code), where_(std::move(where)), advice_(std::move(advice)) {}

std::string Error::message() const {
  std::string text = where_.empty() ? std::string(what()) : where_ + ": " + what();
  if (!advice_.empty()) text += "\n  " + advice_;
  return text;
}

void say(std::string_view text) noexcept {
  write_all(STDERR_FILENO, text);
}

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

const StopRequest& own_stop_request() noexcept {
  return own_request;
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
