// Switch flow_control, in bytes: what gRPC takes in and holds for a reader that has stopped
// reading.
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "fl/transport.h"
#include "support/malloc_counter.h"

namespace memduel {
namespace {

constexpr std::size_t kMessage = 256 * 1024;
constexpr int kReadAtOnce = 512;  // 128 MiB: the window has grown by then, if it grows
constexpr int kMessages = 2 * kReadAtOnce;

/// Bytes live above those before the call, once the writer is stuck.
long long held_for_an_idle_reader(bool bounded) {
  std::promise<void> stopped_reading;
  std::promise<void> go_on;
  TransportOptions options;
  options.bounded_window = bounded;
  const auto server = open_server(options, [&](Method, Call& call) {
    for (int i = 0; i < kReadAtOnce; ++i) static_cast<void>(call.read());
    stopped_reading.set_value();
    go_on.get_future().wait();
    while (call.read()) {
    }
  });
  const auto transport = open_client(options, server->address(), "client-1");
  transport->connect(std::chrono::seconds(30));
  const auto call = transport->start(Method::update_global_model);
  const std::string bytes(kMessage, 'x');

  const MallocCounter counter;
  std::thread writer([&] {
    const Segment segment{bytes, nullptr};
    for (int i = 0; i < kMessages; ++i) call->write({&segment, 1});
    call->finish_writing();
  });
  stopped_reading.get_future().wait();
  long long held = -1;
  for (int quiet = 0, tries = 0; quiet < 5 && tries < 200; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const long long now = counter.live();
    quiet = now == held ? quiet + 1 : 0;
    held = now;
  }
  go_on.set_value();
  writer.join();
  call->finish();
  return held;
}

TEST(FlowControlBytes, ABoundedWindowHoldsLittleForAReaderThatStopped) {
  constexpr long long kMiB = 1024 * 1024;
  EXPECT_LE(held_for_an_idle_reader(true), 1 * kMiB);
  EXPECT_GE(held_for_an_idle_reader(false), 3 * kMiB);
}

}  // namespace
}  // namespace memduel
