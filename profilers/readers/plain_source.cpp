// Reads a file or memory as it is, or unpacks it, whichever of gzip and zstd it is packed with.

#include "readers/plain_source.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "util/error.h"

namespace memduel {

class Unpacker {
 public:
  /// Throws Error(io) naming the file and the system's reason.
  explicit Unpacker(const std::filesystem::path& file);
  Unpacker(std::string_view bytes, std::string name);
  ~Unpacker();
  Unpacker(Unpacker&&) = delete;
  Unpacker& operator=(Unpacker&&) = delete;
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  /// Up to `size` unpacked bytes; 0 at the end. Throws Error(io) with the offset in the packed file
  /// where the packing is damaged or ends early.
  std::size_t read(char* to, std::size_t size);

  [[nodiscard]] bool packed() const { return packing_ != Packing::none; }

 private:
  enum class Packing { none, gzip, zstd };

  void recognise();
  bool refill();
  std::size_t read_gzip(char* to, std::size_t size);
  std::size_t read_zstd(char* to, std::size_t size);
  [[noreturn]] void fail(const char* packing, const char* problem) const;

  std::string name_;
  std::ifstream file_;
  bool from_file_ = false;
  std::string chunk_;
  std::string_view input_;      ///< not yet unpacked
  std::uint64_t consumed_ = 0;  ///< packed bytes before `input_`
  Packing packing_ = Packing::none;
  bool inside_ = false;  ///< a frame or member that has begun and not ended
  z_stream gzip_{};
  std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> zstd_{nullptr, &ZSTD_freeDStream};
};

namespace {

constexpr std::size_t kChunk = 256UL << 10;
constexpr int kGzipWindow = MAX_WBITS + 16;

}  // namespace

Unpacker::Unpacker(const std::filesystem::path& file)
    : name_(file.string()), file_(file, std::ios::binary), from_file_(true), chunk_(kChunk, '\0') {
  if (!file_) throw Error(ExitCode::io, fmt::format("cannot be read: {}", strerror(errno)), name_);
  recognise();
}

Unpacker::Unpacker(std::string_view bytes, std::string name)
    : name_(std::move(name)), input_(bytes) {
  recognise();
}

Unpacker::~Unpacker() {
  if (packing_ == Packing::gzip) inflateEnd(&gzip_);
}

void Unpacker::recognise() {
  using namespace std::string_view_literals;
  refill();
  if (input_.starts_with("\x1f\x8b"sv)) {
    if (inflateInit2(&gzip_, kGzipWindow) != Z_OK) fail("gzip", "cannot be unpacked");
    packing_ = Packing::gzip;
  } else if (input_.starts_with("\x28\xb5\x2f\xfd"sv)) {
    zstd_.reset(ZSTD_createDStream());
    if (!zstd_) fail("zstd", "cannot be unpacked");
    packing_ = Packing::zstd;
  }
}

// False at the end of the file.
bool Unpacker::refill() {
  if (!input_.empty()) return true;
  if (!from_file_) return false;
  file_.read(chunk_.data(), static_cast<std::streamsize>(chunk_.size()));
  input_ = std::string_view(chunk_.data(), static_cast<std::size_t>(file_.gcount()));
  if (file_.bad()) throw Error(ExitCode::io, "cannot be read to its end", name_);
  return !input_.empty();
}

std::size_t Unpacker::read(char* to, std::size_t size) {
  if (packing_ == Packing::gzip) return read_gzip(to, size);
  if (packing_ == Packing::zstd) return read_zstd(to, size);
  if (!refill()) return 0;
  const std::size_t got = std::min(size, input_.size());
  std::memcpy(to, input_.data(), got);
  input_.remove_prefix(got);
  consumed_ += got;
  return got;
}

std::size_t Unpacker::read_gzip(char* to, std::size_t size) {
  gzip_.next_out = reinterpret_cast<Bytef*>(to);
  gzip_.avail_out = static_cast<uInt>(std::min<std::size_t>(size, kChunk));
  const uInt wanted = gzip_.avail_out;
  while (gzip_.avail_out == wanted) {
    if (!refill()) {
      if (inside_) fail("gzip", "end early");
      return 0;
    }
    if (!inside_ && consumed_ > 0 && inflateReset(&gzip_) != Z_OK) fail("gzip", "are damaged");
    inside_ = true;
    const std::size_t before = std::min<std::size_t>(input_.size(), kChunk);
    gzip_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.data()));
    gzip_.avail_in = static_cast<uInt>(before);
    const int status = inflate(&gzip_, Z_NO_FLUSH);
    input_.remove_prefix(before - gzip_.avail_in);
    consumed_ += before - gzip_.avail_in;
    if (status == Z_STREAM_END) {
      inside_ = false;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      fail("gzip", "are damaged");
    }
  }
  return wanted - gzip_.avail_out;
}

std::size_t Unpacker::read_zstd(char* to, std::size_t size) {
  ZSTD_outBuffer out{to, size, 0};
  while (out.pos == 0) {
    // What the decoder holds back is asked for first: it needs no input for that.
    if (!refill() && !inside_) return 0;
    ZSTD_inBuffer in{input_.data(), input_.size(), 0};
    const std::size_t left = ZSTD_decompressStream(zstd_.get(), &out, &in);
    if (ZSTD_isError(left) != 0) fail("zstd", "are damaged");
    const bool stuck = input_.empty() && out.pos == 0;
    input_.remove_prefix(in.pos);
    consumed_ += in.pos;
    inside_ = left != 0;
    if (stuck && inside_) fail("zstd", "end early");
  }
  return out.pos;
}

void Unpacker::fail(const char* packing, const char* problem) const {
  throw Error(ExitCode::io, fmt::format("byte {}: the {} data {}", consumed_, packing, problem),
              name_);
}

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
