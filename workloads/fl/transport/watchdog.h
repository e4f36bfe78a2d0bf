// Ends calls whose other side hangs: it keeps its connection, so that nothing else would notice.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "fl/transport.h"

namespace memduel {

class Watchdog {
 public:
  /// @param patience how long one read or write may take.
  explicit Watchdog(std::chrono::duration<double> patience);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  [[nodiscard]] std::chrono::duration<double> patience() const { return patience_; }

  void begin(Call& call);
  /// Whether the call was cancelled since begin.
  bool end(Call& call);

 private:
  using Clock = std::chrono::steady_clock;
  struct Watched {
    Clock::time_point due;
    bool cancelled = false;
  };

  void run();

  const std::chrono::duration<double> patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Call*, Watched> watched_;
  bool ending_ = false;
  std::thread thread_;
};

/// A call each of whose reads and writes is watched: it throws PeerGone when one takes too long.
class WatchedCall final : public Call {
 public:
  /// Both must outlive it.
  WatchedCall(Call& call, Watchdog& watchdog) : call_(call), watchdog_(watchdog) {}

  std::optional<Message> read() override;
  void write(std::span<const Segment> segments) override;
  void cancel() noexcept override { call_.cancel(); }
  [[nodiscard]] const std::string& peer() const override { return call_.peer(); }

 private:
  template <class Work>
  auto watched(const char* what, Work work);

  Call& call_;
  Watchdog& watchdog_;
};

}  // namespace memduel
