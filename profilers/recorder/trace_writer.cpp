#include "profilers/recorder/trace_writer.h"

#include <fcntl.h>

#include <cstring>

#include "profilers/recorder/counters.h"
#include "profilers/recorder/next.h"
#include "profilers/recorder/own_file.h"
#include "profilers/recorder/stacks.h"

namespace memduel::recorder {

namespace {

constexpr std::size_t kBlockBytes = 64 * 1024;
constexpr std::size_t kSlack = 3 * kMostText;

struct Buffer {
  BlockHeader header;
  unsigned char bytes[kBlockBytes + kSlack];
};

Buffer buffer;
std::size_t used = 0;
OwnFile file;
std::uintptr_t last_address = 0;

void put_byte(unsigned char byte) {
  buffer.bytes[used++] = byte;
}

template <class Number>
Number load(const Number& counter) {
  return __atomic_load_n(&counter, __ATOMIC_RELAXED);
}

void begin_block() {
  last_address = 0;
  put_byte(static_cast<unsigned char>(Event::counters));
  put_number(now_ns());
  put_number(next_untold_node());
  put_signed(load(page->live_bytes));
  put_number(static_cast<std::uint64_t>(load(page->peak_bytes)));
  put_number(load(page->allocated_bytes));
  put_number(load(page->allocations));
  put_signed(load(page->mapping_bytes));
  put_number(static_cast<std::uint64_t>(load(page->mapping_peak_bytes)));
  put_number(load(page->lost));
  put_number(load(page->threads));
}

void write_block(BlockType type) {
  const auto size = static_cast<std::uint32_t>(used);
  buffer.header = {type, 0, size, size, 0};
  buffer.header.crc32c = block_checksum(buffer.header, buffer.bytes);
  if (!file.append(&buffer, sizeof buffer.header + used)) count_lost();
  used = 0;
}

void put_line(const char* key, const char* value) {
  const auto put = [](const char* text) {
    for (; *text != '\0' && used < kBlockBytes; ++text) {
      put_byte(static_cast<unsigned char>(*text == '\n' ? ' ' : *text));
    }
  };
  put(key);
  put_byte(' ');
  put(value);
  put_byte('\n');
}

void put_line(const char* key, std::uint64_t value) {
  char digits[24];
  char* first = digits + sizeof digits - 1;
  *first = '\0';
  do {
    *--first = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  put_line(key, first);
}

void put_command_line() {
  char text[2048];
  const long fd =
      raw_syscall(SYS_open, reinterpret_cast<long>("/proc/self/cmdline"), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const long got = raw_syscall(SYS_read, fd, reinterpret_cast<long>(text), sizeof text - 1);
  raw_syscall(SYS_close, fd);
  if (got <= 0) return;
  for (long i = 0; i + 1 < got; ++i) {
    if (text[i] == '\0') text[i] = ' ';
  }
  text[got] = '\0';
  put_line("command", text);
}

void put_info() {
  put_line("program", page->program);
  put_command_line();
  put_line("allocator", page->allocator);
  put_line("block_bytes", next.glibc ? "glibc_chunk" : "usable_size");
  put_line("mode", settings.mode == Mode::exact ? "exact" : "sampled");
  if (settings.mode == Mode::sampled) put_line("interval_bytes", settings.interval_bytes);
  put_line("pid", static_cast<std::uint64_t>(page->pid));
  put_line("parent_pid", static_cast<std::uint64_t>(page->parent_pid));
  put_line("started_ns", page->started_ns);
  put_line("seed", settings.seed);
  put_line("forked", (page->flags & kForked) != 0 ? "yes" : "no");
}

}  // namespace

bool open_trace_file() {
  TraceHeader header{};
  memcpy(header.magic, kTraceMagic, sizeof header.magic);
  header.version = kTraceVersion;
  if (!file.create(".mdp") || !file.append(&header, sizeof header)) return false;
  used = 0;
  put_info();
  write_block(BlockType::info);
  return true;
}

void drop_trace_file() {
  file.close();
  used = 0;
}

void begin_event(Event event, std::size_t most_bytes) {
  if (used + most_bytes > kBlockBytes + kSlack - 1 || used > kBlockBytes) finish_block();
  if (used == 0) begin_block();
  put_byte(static_cast<unsigned char>(event));
}

void put_number(std::uint64_t value) {
  while (value >= 0x80) {
    put_byte(static_cast<unsigned char>(value | 0x80));
    value >>= 7;
  }
  put_byte(static_cast<unsigned char>(value));
}

void put_signed(std::int64_t value) {
  put_number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

void put_address(const void* address) {
  const std::uintptr_t unit = reinterpret_cast<std::uintptr_t>(address) >> 3;
  put_signed(static_cast<std::int64_t>(unit - last_address));
  last_address = unit;
}

void put_text(const char* text, std::size_t bytes) {
  if (bytes > kMostText) bytes = kMostText;
  put_number(bytes);
  memcpy(buffer.bytes + used, text, bytes);
  used += bytes;
}

void finish_block() {
  if (used == 0) return;
  write_block(BlockType::events);
}

}  // namespace memduel::recorder
