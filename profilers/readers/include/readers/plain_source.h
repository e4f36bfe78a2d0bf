// The bytes of a file in their order, unpacked where gzip or zstd packed them: as lines, or whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace memduel {

// What is wrong with files of several formats.
inline constexpr const char* kEndsInALine = "the file ends inside a line";
inline constexpr const char* kEndsInFirstLine = "the file ends inside its first line";
inline constexpr const char* kEndsBeforeMaps = "the file ends before its MAPPED_LIBRARIES";

class Unpacker;

class PlainSource {
 public:
  /// Throws Error(io) naming the file and the system's reason.
  explicit PlainSource(const std::filesystem::path& file);
  /// `bytes` must outlive the source; `name` is for messages.
  PlainSource(std::string_view bytes, std::string name);
  ~PlainSource();
  PlainSource(PlainSource&&) = delete;
  PlainSource& operator=(PlainSource&&) = delete;
  PlainSource(const PlainSource&) = delete;
  PlainSource& operator=(const PlainSource&) = delete;

  /// The first unpacked bytes (at most 64 KiB); may be asked for before anything else was read.
  [[nodiscard]] std::string_view head() const { return {buffer_.data() + begin_, end_ - begin_}; }

  /// The next line without its end; nothing after the last one. Valid until the next call.
  std::optional<std::string_view> line();
  /// Whether the line that was returned last had an end: what was cut off has none.
  [[nodiscard]] bool line_ended() const { return line_ended_; }
  /// Everything from here on. Throws Error(io) beyond 1 GiB.
  std::string rest();

  /// Number of the line that was returned last, from 1.
  [[nodiscard]] std::uint64_t line_number() const { return line_number_; }
  /// Where it, or what rest() returned, begins among the unpacked bytes.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

  /// Unpacked bytes that were returned so far.
  [[nodiscard]] std::uint64_t consumed() const { return consumed_; }

  /// Throws Error(io): the file, the byte `offset()` + `within`, and `problem`.
  [[noreturn]] void fail(const std::string& problem, std::uint64_t within = 0) const;

  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  bool fill();

  std::string name_;
  std::unique_ptr<Unpacker> unpacker_;
  std::string buffer_;
  std::size_t begin_ = 0;  ///< of what nobody asked for yet, in the buffer
  std::size_t end_ = 0;
  std::uint64_t consumed_ = 0;  ///< unpacked bytes before `begin_`
  std::uint64_t offset_ = 0;
  std::uint64_t line_number_ = 0;
  bool line_ended_ = true;
};

}  // namespace memduel
