// For tests: a call whose other end is itself.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "fl/transport.h"

namespace memduel {

/// Delivers what was written, each message split into segments of `split` bytes.
class LoopCall final : public Call {
 public:
  explicit LoopCall(std::size_t split = 7) : split_(split) {}

  std::optional<Message> read() override {
    if (messages_.empty()) return std::nullopt;
    const auto owner = std::make_shared<const std::string>(std::move(messages_.front()));
    messages_.pop_front();
    Message message;
    for (std::size_t at = 0; at < owner->size(); at += split_)
      message.segments.push_back(std::string_view(*owner).substr(at, split_));
    message.owner = owner;
    return message;
  }

  void write(std::span<const Segment> segments) override {
    std::string message;
    for (const Segment& segment : segments) message.append(segment.bytes);
    messages_.push_back(std::move(message));
  }

  void cancel() noexcept override {}
  [[nodiscard]] const std::string& peer() const override { return peer_; }
  [[nodiscard]] std::size_t waiting() const { return messages_.size(); }
  /// Loses the last message that was written.
  void drop_last() { messages_.pop_back(); }

 private:
  std::size_t split_;
  std::deque<std::string> messages_;
  std::string peer_ = "client-1";
};

}  // namespace memduel
