// For tests of what switches do to memory, in bytes allocated: a state of S bytes, a preset's
// switches, and calls that cost nothing themselves.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "optimizations.h"
#include "support/catalog_files.h"
#include "support/malloc_counter.h"

namespace memduel {

inline constexpr std::size_t kPiece = 65536;
inline constexpr std::size_t kPieces = 64;
inline constexpr double S = static_cast<double>(kPiece * kPieces);  // 4 MiB
/// What tables, names and bookkeeping may add.
inline constexpr double kSmall = 0.05 * S;

inline State sample_state() {
  return {{"a", torch::ones({1024, 512})}, {"b", torch::ones({1024, 512})}};
}

/// Tensors are compressed in blocks of at most a mebibyte (compressed_codec.cpp).
inline constexpr double kBloscBlock = 1 << 20;

/// Integers that no lossless compressor makes smaller; S bytes.
inline State random_bits() {
  torch::manual_seed(7);
  const auto some = [] { return torch::randint(INT32_MIN, INT32_MAX, {1024, 512}, torch::kInt); };
  return {{"a", some()}, {"b", some()}};
}

/// Pieces that fit the messages of a test.
inline const nlohmann::json kSmallPieces = {{"piece_bytes", kPiece}};

inline double as_double(std::size_t bytes) {
  return static_cast<double>(bytes);
}

/// A preset's values, with `changes` merged over them.
inline Optimizations preset(const std::string& name, const nlohmann::json& changes = {}) {
  auto values = preset_values(name);
  if (!changes.is_null()) values.update(changes);
  return make_optimizations(values, std::size_t{1} << 20);
}

/// Forgets what it is given.
class ForgetfulCall final : public Call {
 public:
  std::optional<Message> read() override { return std::nullopt; }
  void write(std::span<const Segment> /*segments*/) override {}
  void cancel() noexcept override {}
  [[nodiscard]] const std::string& peer() const override { return peer_; }

 private:
  std::string peer_ = "nobody";
};

/// Who holds a message that a recorded call delivers: the call, so that it costs nothing, or its
/// reader, as with a real transport.
enum class HeldBy { call, reader };

/// Delivers an upload that was recorded beforehand.
class RecordedCall final : public Call {
 public:
  RecordedCall(Outgoing upload, std::size_t piece_bytes, HeldBy held_by = HeldBy::call)
      : held_by_(held_by) {
    send(*this, std::move(upload), piece_bytes);
  }

  std::optional<Message> read() override {
    if (next_ == messages_.size()) return std::nullopt;
    Message message;
    if (held_by_ == HeldBy::call) {
      message.segments.emplace_back(messages_[next_++]);
    } else {
      const auto owner = std::make_shared<const std::string>(messages_[next_++]);
      message.segments.emplace_back(*owner);
      message.owner = owner;
    }
    return message;
  }
  void write(std::span<const Segment> segments) override {
    std::string& message = messages_.emplace_back();
    for (const Segment& segment : segments) message.append(segment.bytes);
  }
  void cancel() noexcept override {}
  [[nodiscard]] const std::string& peer() const override { return peer_; }

 private:
  HeldBy held_by_;
  std::vector<std::string> messages_;
  std::size_t next_ = 0;
  std::string peer_ = "client-1";
};

/// An upload of `state`, as it is.
inline Outgoing upload_of(const State& state, const Framing& framing) {
  return framing.wrap_borrowed({"client-1", Status::run, ""}, borrow_state(state));
}

}  // namespace memduel
