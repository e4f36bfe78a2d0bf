#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <new>
#include <optional>
#include <stdexcept>

#include "profile/recorded_files.h"
#include "util/bytes.h"
#include "util/error.h"

namespace memduel {

namespace {

using recorder::BlockHeader;
using recorder::BlockType;
using recorder::TraceHeader;

// The recorder's blocks are under 100 KiB; symbols of a large program a few MiB. A damaged length
// must not make us reserve the machine's memory.
constexpr std::uint32_t kMostPlainBytes = 256U << 20;

template <class Record>
Record record_at(std::string_view bytes, std::size_t offset) {
  Record record;
  std::memcpy(&record, bytes.data() + offset, sizeof record);
  return record;
}

void check_header(std::string_view bytes, const std::string& name) {
  if (bytes.size() < sizeof(TraceHeader)) {
    throw Error(
        ExitCode::io, fmt::format("{} bytes, too short for a profile", bytes.size()), name,
        "the program was killed while it started, or may not write that much (df, ulimit -f)");
  }
  const auto header = record_at<TraceHeader>(bytes, 0);
  if (std::memcmp(header.magic, recorder::kTraceMagic, sizeof header.magic) != 0) {
    throw Error(ExitCode::io, "not a memduel profile: its first bytes are not MDPROF", name);
  }
  if (header.version < recorder::kOldestTraceVersion || header.version > recorder::kTraceVersion) {
    throw Error(ExitCode::io,
                fmt::format("profile version {}, expected {} to {}", header.version,
                            recorder::kOldestTraceVersion, recorder::kTraceVersion),
                name, "it was written by another version of memduel");
  }
}

std::optional<std::string> unpack(const BlockHeader& header, std::string_view stored) {
  if (recorder::block_checksum(header, stored.data()) != header.crc32c) return std::nullopt;
  if ((header.flags & recorder::kZstd) == 0) return std::string(stored);
  if (header.plain_bytes > kMostPlainBytes) return std::nullopt;
  std::string plain(header.plain_bytes, '\0');
  const std::size_t size =
      ZSTD_decompress(plain.data(), plain.size(), stored.data(), stored.size());
  if (ZSTD_isError(size) != 0 || size != plain.size()) return std::nullopt;
  return plain;
}

}  // namespace

bool is_trace(std::string_view bytes) {
  return bytes.starts_with(std::string_view(recorder::kTraceMagic, sizeof recorder::kTraceMagic));
}

bool is_trace_file(const std::filesystem::path& file) {
  std::string magic(sizeof recorder::kTraceMagic, '\0');
  std::ifstream(file, std::ios::binary).read(magic.data(), std::ssize(magic));
  return is_trace(magic);
}

std::size_t TraceReader::take(std::string_view bytes,
                              const std::function<void(const TraceBlock&)>& visit) {
  std::size_t at = 0;
  if (!has_begun_) {
    if (bytes.size() < sizeof(TraceHeader)) return 0;
    check_header(bytes, name_);
    has_begun_ = true;
    at = sizeof(TraceHeader);
  }
  while (bytes.size() - at >= sizeof(BlockHeader)) {
    const auto header = record_at<BlockHeader>(bytes, at);
    if (header.stored_bytes > bytes.size() - at - sizeof header) break;
    const std::string_view stored = bytes.substr(at + sizeof header, header.stored_bytes);
    at += sizeof header + header.stored_bytes;
    std::optional<std::string> plain = unpack(header, stored);
    if (!plain) {
      ++reading_.damaged;
      continue;
    }
    ++reading_.blocks;
    reading_.indexed = header.type == BlockType::index;
    visit({header.type, std::move(*plain)});
  }
  reading_.bytes += at;
  return at;
}

TraceReading TraceReader::finish(std::string_view left) {
  if (!has_begun_) check_header(left, name_);
  reading_.truncated = !left.empty();
  reading_.bytes += left.size();
  return reading_;
}

TraceReading read_trace(std::string_view bytes, const std::string& name,
                        const std::function<void(const TraceBlock&)>& visit) {
  TraceReader reader(name);
  const std::size_t taken = reader.take(bytes, visit);
  return reader.finish(bytes.substr(taken));
}

std::size_t count_blocks(std::string_view bytes, BlockType type) {
  std::size_t count = 0;
  std::size_t at = sizeof(TraceHeader);
  while (at < bytes.size() && bytes.size() - at >= sizeof(BlockHeader)) {
    const auto header = record_at<BlockHeader>(bytes, at);
    if (header.stored_bytes > bytes.size() - at - sizeof header) break;
    if (header.type == type) ++count;
    at += sizeof header + header.stored_bytes;
  }
  return count;
}

TraceWriter::TraceWriter() : packer_(ZSTD_createCCtx(), &ZSTD_freeCCtx) {
  if (!packer_) throw std::bad_alloc();
  const TraceHeader header = recorder::trace_header();
  bytes_.append(reinterpret_cast<const char*>(&header), sizeof header);
}

void TraceWriter::add(BlockType type, std::string_view plain) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size = ZSTD_compressCCtx(packer_.get(), packed.data(), packed.size(),
                                             plain.data(), plain.size(), ZSTD_CLEVEL_DEFAULT);
  const bool smaller = ZSTD_isError(size) == 0 && size < plain.size();
  const std::string_view stored = smaller ? std::string_view(packed).substr(0, size) : plain;
  BlockHeader header{};
  header.type = type;
  header.flags = smaller ? recorder::kZstd : 0;
  header.stored_bytes = static_cast<std::uint32_t>(stored.size());
  header.plain_bytes = static_cast<std::uint32_t>(plain.size());
  header.crc32c = recorder::block_checksum(header, stored.data());
  entries_.push_back({type, bytes_.size(), header.plain_bytes});
  bytes_.append(reinterpret_cast<const char*>(&header), sizeof header);
  bytes_.append(stored);
}

std::string TraceWriter::finish() {
  std::string index;
  put_varint(index, entries_.size());
  for (const Entry& entry : entries_) {
    put_varint(index, static_cast<std::uint64_t>(entry.type));
    put_varint(index, entry.offset);
    put_varint(index, entry.plain_bytes);
  }
  add(BlockType::index, index);
  return std::move(bytes_);
}

void TraceCursor::throw_end() {
  throw std::out_of_range("ends inside an event");
}

std::uint64_t TraceCursor::long_number() {
  const auto value = read_varint([this] { return byte(); });
  if (!value) throw std::out_of_range(kTooLongNumber);
  return *value;
}

void TraceCursor::read(recorder::Address& address) {
  last_address_ += static_cast<std::uint64_t>(unzigzag(number()));
  address.value = last_address_ << 3;
}

void TraceCursor::throw_unknown(std::uint8_t kind) {
  throw std::out_of_range(fmt::format("unknown kind {}", kind));
}

std::string_view TraceCursor::text() {
  const std::uint64_t size = number();
  if (size > bytes_.size() - position_) throw std::out_of_range("ends inside a text");
  const std::string_view text = bytes_.substr(position_, size);
  position_ += size;
  return text;
}

void put_text(std::string& bytes, std::string_view text) {
  put_varint(bytes, text.size());
  bytes.append(text);
}

}  // namespace memduel
