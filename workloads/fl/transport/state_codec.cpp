#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "fl/transport.h"
#include "little_endian.h"
#include "util/error.h"

namespace memduel {
namespace {

constexpr std::string_view kMagic = "MDST";
constexpr std::uint32_t kStateVersion = 1;
constexpr std::size_t kMostDimensions = 16;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;

constexpr std::array<std::size_t, 4> kElementSizes = {4, 8, 4, 8};
constexpr std::array<std::string_view, 4> kDtypeNames = {"float32", "float64", "int32", "int64"};

std::size_t aligned(std::size_t offset) {
  return (offset + kTableAlignment - 1) / kTableAlignment * kTableAlignment;
}

class TableReader {
 public:
  TableReader(std::string_view bytes, const std::string& from) : bytes_(bytes), from_(from) {}

  template <class Number>
  Number number() {
    const std::string_view raw = text(sizeof(Number));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i)
      value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(raw[i])) << (8 * i);
    return static_cast<Number>(value);
  }

  std::string_view text(std::size_t size) {
    if (size > bytes_.size() - position_)
      fail(fmt::format("the table ends early: {} bytes wanted, {} left", size,
                       bytes_.size() - position_));
    const std::string_view taken = bytes_.substr(position_, size);
    position_ += size;
    return taken;
  }

  [[nodiscard]] std::size_t position() const { return position_; }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::cannot_measure,
                fmt::format("malformed model state at byte {}: {}", position_, what), from_);
  }

 private:
  std::string_view bytes_;
  const std::string& from_;
  std::size_t position_ = 0;
};

std::size_t read_prefix(TableReader& reader) {
  const std::string_view magic = reader.text(kMagic.size());
  if (magic != kMagic) reader.fail(fmt::format("the magic is not \"{}\"", kMagic));
  const auto version = reader.number<std::uint32_t>();
  if (version != kStateVersion)
    reader.fail(fmt::format("expected version {}, found {}", kStateVersion, version));
  const auto table_bytes = reader.number<std::uint64_t>();
  if (table_bytes < kTablePrefixBytes || table_bytes > kMostTableBytes ||
      table_bytes % kTableAlignment != 0)
    reader.fail(fmt::format("a table of {} bytes is not possible", table_bytes));
  return table_bytes;
}

/// Elements × element size, refused where it would not fit a plausible state.
std::size_t data_bytes(const TensorRecord& record, const TableReader& reader) {
  std::uint64_t bytes = element_size(record.dtype);
  bool empty = false;
  for (const std::int64_t dimension : record.shape) {
    if (dimension < 0) reader.fail(fmt::format("tensor {}: negative dimension", record.name));
    if (dimension == 0) {
      empty = true;
    } else if (static_cast<std::uint64_t>(dimension) > kMostBytes / bytes) {
      reader.fail(
          fmt::format("tensor {}: shape {} is too large", record.name, record.shape_text()));
    } else {
      bytes *= static_cast<std::uint64_t>(dimension);
    }
  }
  return empty ? 0 : bytes;
}

TensorRecord read_record(TableReader& reader) {
  TensorRecord record;
  record.name = reader.text(reader.number<std::uint16_t>());
  if (record.name.empty()) reader.fail("a tensor has no name");
  const auto dtype = reader.number<std::uint8_t>();
  if (dtype >= kElementSizes.size())
    reader.fail(fmt::format("tensor {}: unknown dtype {}", record.name, dtype));
  record.dtype = static_cast<Dtype>(dtype);
  const auto dimensions = reader.number<std::uint8_t>();
  if (dimensions > kMostDimensions)
    reader.fail(fmt::format("tensor {}: {} dimensions, expected at most {}", record.name,
                            dimensions, kMostDimensions));
  for (std::size_t d = 0; d < dimensions; ++d)
    record.shape.push_back(reader.number<std::int64_t>());
  record.bytes = data_bytes(record, reader);
  return record;
}

void place(StateTable& table) {
  std::size_t offset = table.table_bytes;
  table.total_bytes = offset;
  for (TensorRecord& record : table.tensors) {
    record.offset = aligned(offset);
    offset = record.offset + record.bytes;
    table.total_bytes = offset;
  }
}

}  // namespace

std::size_t element_size(Dtype dtype) {
  return kElementSizes[static_cast<std::size_t>(dtype)];
}
std::string_view dtype_name(Dtype dtype) {
  return kDtypeNames[static_cast<std::size_t>(dtype)];
}

std::string TensorRecord::shape_text() const {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

StateTable layout_table(std::vector<TensorRecord> tensors) {
  StateTable table{std::move(tensors), kTablePrefixBytes, 0};
  for (TensorRecord& record : table.tensors) {
    record.bytes = element_size(record.dtype);
    for (const std::int64_t dimension : record.shape)
      record.bytes *= static_cast<std::size_t>(dimension);
    table.table_bytes += 2 + record.name.size() + 2 + 8 * record.shape.size();
  }
  table.table_bytes = aligned(table.table_bytes);
  place(table);
  return table;
}

std::string encode_table(const StateTable& table) {
  std::string out;
  out.reserve(table.table_bytes);
  out.append(kMagic);
  put_little_endian(out, kStateVersion);
  put_little_endian(out, static_cast<std::uint64_t>(table.table_bytes));
  put_little_endian(out, static_cast<std::uint64_t>(table.total_bytes));
  put_little_endian(out, static_cast<std::uint32_t>(table.tensors.size()));
  for (const TensorRecord& record : table.tensors) {
    put_little_endian(out, static_cast<std::uint16_t>(record.name.size()));
    out.append(record.name);
    put_little_endian(out, static_cast<std::uint8_t>(record.dtype));
    put_little_endian(out, static_cast<std::uint8_t>(record.shape.size()));
    for (const std::int64_t dimension : record.shape)
      put_little_endian(out, static_cast<std::uint64_t>(dimension));
  }
  out.resize(table.table_bytes, '\0');
  return out;
}

std::size_t table_size(std::string_view prefix, const std::string& from) {
  TableReader reader(prefix, from);
  return read_prefix(reader);
}

StateTable decode_table(std::string_view bytes, const std::string& from) {
  StateTable table;
  table.table_bytes = table_size(bytes, from);
  if (bytes.size() < table.table_bytes)
    throw Error(ExitCode::cannot_measure,
                fmt::format("malformed model state: expected at least the {} bytes of its table, "
                            "found {}",
                            table.table_bytes, bytes.size()),
                from);
  TableReader reader(bytes.substr(0, table.table_bytes), from);
  read_prefix(reader);
  const auto total = reader.number<std::uint64_t>();
  const auto count = reader.number<std::uint32_t>();
  std::unordered_set<std::string> names;
  std::uint64_t sum = table.table_bytes;
  for (std::uint32_t i = 0; i < count; ++i) {
    table.tensors.push_back(read_record(reader));
    const TensorRecord& record = table.tensors.back();
    if (!names.insert(record.name).second)
      reader.fail(fmt::format("two tensors are named {}", record.name));
    sum += record.bytes + kTableAlignment;
    if (sum > kMostBytes) reader.fail("the tensors together are too large");
  }
  if (aligned(reader.position()) != table.table_bytes)
    reader.fail(fmt::format("the table has {} bytes, expected {}", table.table_bytes,
                            aligned(reader.position())));
  place(table);
  if (table.total_bytes != total)
    reader.fail(fmt::format("a state of {} bytes is claimed, the shapes give {}", total,
                            table.total_bytes));
  return table;
}

void expect_same_tensors(const StateTable& found, const StateTable& expected,
                         const std::string& from) {
  const auto fail = [&](const std::string& what) {
    throw Error(ExitCode::cannot_measure, what, from, "server and clients must run the same model");
  };
  std::unordered_map<std::string_view, const TensorRecord*> by_name;
  for (const TensorRecord& record : found.tensors) by_name.emplace(record.name, &record);
  for (const TensorRecord& want : expected.tensors) {
    const auto it = by_name.find(want.name);
    if (it == by_name.end()) {
      fail(fmt::format("tensor {} is missing", want.name));
    } else if (it->second->dtype != want.dtype || it->second->shape != want.shape) {
      fail(fmt::format("tensor {}: expected {} {}, found {} {}", want.name, dtype_name(want.dtype),
                       want.shape_text(), dtype_name(it->second->dtype), it->second->shape_text()));
    } else {
      by_name.erase(it);
    }
  }
  for (const TensorRecord& record : found.tensors)
    if (by_name.contains(record.name))
      fail(fmt::format("tensor {} is not part of the model", record.name));
}

}  // namespace memduel
