#include "profilers/readers/plain_source.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "profilers/readers/unpacker.h"

namespace memduel {

namespace {

constexpr std::size_t kHead = 64UL << 10;
constexpr std::size_t kWindow = 1UL << 20;
constexpr std::size_t kLongestLine = 64UL << 20;
constexpr std::size_t kMostRest = 1UL << 30;

}  // namespace

PlainSource::PlainSource(const std::filesystem::path& file)
    : name_(file.string()), unpacker_(std::make_unique<Unpacker>(file)) {
  while (end_ < kHead && fill()) continue;
}

PlainSource::PlainSource(std::string_view bytes, std::string name)
    : name_(std::move(name)), unpacker_(std::make_unique<Unpacker>(bytes, name_)) {
  while (end_ < kHead && fill()) continue;
}

PlainSource::~PlainSource() = default;

// Makes room behind what is there and reads into it; false at the end.
bool PlainSource::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() < end_ + kWindow / 2) buffer_.resize(end_ + kWindow);
  const std::size_t got = unpacker_->read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += got;
  return got > 0;
}

std::optional<std::string_view> PlainSource::line() {
  offset_ = consumed_;
  std::size_t searched = 0;
  for (;;) {
    const char* from = buffer_.data() + begin_;
    const auto* newline =
        static_cast<const char*>(std::memchr(from + searched, '\n', end_ - begin_ - searched));
    if (newline != nullptr) {
      const auto size = static_cast<std::size_t>(newline - from);
      begin_ += size + 1;
      consumed_ += size + 1;
      ++line_number_;
      return std::string_view(from, size);
    }
    searched = end_ - begin_;
    if (searched > kLongestLine) fail("a line of more than 64 MiB");
    if (!fill()) break;
  }
  if (begin_ == end_) return std::nullopt;
  const std::string_view last(buffer_.data() + begin_, end_ - begin_);
  consumed_ += last.size();
  begin_ = end_;
  ++line_number_;
  line_ended_ = false;
  return last;
}

std::string PlainSource::rest() {
  offset_ = consumed_;
  std::string all(buffer_.data() + begin_, end_ - begin_);
  begin_ = end_;
  while (fill()) {
    if (all.size() > kMostRest) fail("more than 1 GiB, which is more than a profile of this kind");
    all.append(buffer_.data(), end_);
    begin_ = end_;
  }
  consumed_ += all.size();
  return all;
}

void PlainSource::fail(const std::string& problem, std::uint64_t within) const {
  throw Error(ExitCode::io,
              fmt::format("byte {}{}: {}", offset_ + within,
                          unpacker_->packed() ? " of the unpacked file" : "", problem),
              name_);
}

}  // namespace memduel
