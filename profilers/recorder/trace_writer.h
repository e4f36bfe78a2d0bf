// Bytes of the trace: the running events block and the file behind it. Under the trace's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "recorder/trace_format.h"
#include "recorder/trace_records.h"
#include "thread_state.h"

namespace memduel::recorder {

/// Creates the file with its header and info block.
bool open_trace_file() MEMDUEL_HIDDEN;
/// Tells the command line again: a forked child may have changed it ("nginx: worker process").
void retell_command_line() MEMDUEL_HIDDEN;
/// In a forked child: the parent's bytes are the parent's to write.
void drop_trace_file() MEMDUEL_HIDDEN;
/// Writes the running block, if there is anything in it.
void finish_block() MEMDUEL_HIDDEN;
/// The same, when the block was begun a quarter of a second ago: so much at most is lost of a
/// server that a signal ends. For modes in which events are rare.
void finish_old_block() MEMDUEL_HIDDEN;

/// The longest text of an event; longer ones are cut. An event has at most two.
inline constexpr std::size_t kMostText = 4096;

struct TraceBuffer {
  static constexpr std::size_t kFull = 64 * 1024;
  static constexpr std::size_t kNone = SIZE_MAX;  ///< `used` while no block is begun
  BlockHeader header;
  unsigned char bytes[kFull + 3 * kMostText];
  std::size_t used;
  std::uintptr_t last_address;
  std::uint64_t interval;  ///< as the running block has told it; 0: not yet
};
extern TraceBuffer trace_buffer MEMDUEL_HIDDEN;

/// Finishes the running block, if any, and begins the next one.
void next_block() MEMDUEL_HIDDEN;

/// Around the records of a snapshot.
void begin_pages() MEMDUEL_HIDDEN;
void next_pages() MEMDUEL_HIDDEN;
void end_pages() MEMDUEL_HIDDEN;
/// In place of end_pages: what was written is how the process began.
void end_fork_pages() MEMDUEL_HIDDEN;

/// A block of one line `key value`, between events.
void tell_info(const char* key, std::uint64_t value) MEMDUEL_HIDDEN;

/// Writes one record from its constructor to its destructor. Its place is its own, so that the
/// compiler keeps it in a register: exact mode writes two events per block.
class EventWriter {
 public:
  explicit EventWriter(Event event) {
    if (__builtin_expect(trace_buffer.used >= TraceBuffer::kFull, 0)) next_block();
    at_ = trace_buffer.bytes + trace_buffer.used;
    *at_++ = static_cast<unsigned char>(event);
  }
  /// Between begin_pages and end_pages.
  explicit EventWriter(PageRecord record) {
    if (trace_buffer.used >= TraceBuffer::kFull) next_pages();
    at_ = trace_buffer.bytes + trace_buffer.used;
    *at_++ = static_cast<unsigned char>(record);
  }
  ~EventWriter() { trace_buffer.used = static_cast<std::size_t>(at_ - trace_buffer.bytes); }
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  /// The operands of a record, in their order.
  [[gnu::always_inline]] void operator()(const auto&... operands) { (put(*this, operands), ...); }

  void number(std::uint64_t value) {
    while (value >= 0x80) {
      *at_++ = static_cast<unsigned char>(value | 0x80);
      value >>= 7;
    }
    *at_++ = static_cast<unsigned char>(value);
  }

  void text(std::string_view text) {
    if (text.size() > kMostText) text = {text.data(), kMostText};
    number(text.size());
    memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }

 private:
  unsigned char* at_;
};

inline void put(EventWriter& writer, std::uint64_t value) {
  writer.number(value);
}

inline void put(EventWriter& writer, std::int64_t value) {
  writer.number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

inline void put(EventWriter& writer, std::string_view text) {
  writer.text(text);
}

inline void put(EventWriter& writer, Address address) {
  const std::uintptr_t unit = address.value >> 3;
  put(writer, static_cast<std::int64_t>(unit - trace_buffer.last_address));
  trace_buffer.last_address = unit;
}

template <class Record>
[[gnu::always_inline]] inline void write_record(Record record) {
  EventWriter writer(Record::kKind);
  record.code(writer);
}

inline Address address_of(const void* at) {
  return {reinterpret_cast<std::uintptr_t>(at)};
}

}  // namespace memduel::recorder
