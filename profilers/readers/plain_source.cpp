#include "profilers/readers/unpacker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace memduel {

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

}  // namespace memduel
