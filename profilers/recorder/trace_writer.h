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

extern RunningBlock trace_buffer MEMDUEL_HIDDEN;

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
    if (__builtin_expect(trace_buffer.used >= RunningBlock::kFull, 0)) next_block();
    at_ = trace_buffer.bytes + trace_buffer.used;
    *at_++ = static_cast<unsigned char>(event);
  }
  /// Between begin_pages and end_pages.
  explicit EventWriter(PageRecord record) {
    if (trace_buffer.used >= RunningBlock::kFull) next_pages();
    at_ = trace_buffer.bytes + trace_buffer.used;
    *at_++ = static_cast<unsigned char>(record);
  }
  /// Only now is the record part of the block, so that no half of one is read of a killed process.
  ~EventWriter() {
    __atomic_store_n(&trace_buffer.used, static_cast<std::uint64_t>(at_ - trace_buffer.bytes),
                     __ATOMIC_RELEASE);
  }
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
    if (text.size() > RunningBlock::kMostText) text = {text.data(), RunningBlock::kMostText};
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
