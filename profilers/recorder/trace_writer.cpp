#include "trace_writer.h"

#include <cstring>

#include "counters.h"
#include "hooks/next.h"
#include "own_file.h"
#include "proc_lines.h"
#include "stacks/stacks.h"

namespace memduel::recorder {

namespace {

constexpr std::uint64_t kOldNs = 250'000'000;

OwnFile file;
std::uint64_t block_begun_ns = 0;

template <class Number>
Number load(const Number& counter) {
  return __atomic_load_n(&counter, __ATOMIC_RELAXED);
}

void begin_block() {
  publish();  // the counters of a program with one thread are then those of this place
  trace_buffer.used = 0;
  trace_buffer.last_address = 0;
  trace_buffer.interval = 0;
  block_begun_ns = now_ns();
  write_record(events::Counters{block_begun_ns, next_untold_node(), load(page->live_bytes),
                                static_cast<std::uint64_t>(load(page->peak_bytes)),
                                load(page->allocated_bytes), load(page->allocations),
                                load(page->mapping_bytes),
                                static_cast<std::uint64_t>(load(page->mapping_peak_bytes)),
                                load(page->lost), load(page->threads)});
}

void write_block(BlockType type) {
  const KeepErrno keep;
  const auto size = static_cast<std::uint32_t>(trace_buffer.used);
  trace_buffer.header = {type, 0, size, size, 0};
  trace_buffer.header.crc32c = block_checksum(trace_buffer.header, trace_buffer.bytes);
  if (!file.append(&trace_buffer, sizeof trace_buffer.header + size)) count_lost();
  trace_buffer.used = TraceBuffer::kNone;
}

void put_byte(char byte) {
  trace_buffer.bytes[trace_buffer.used++] = static_cast<unsigned char>(byte);
}

void put_line(const char* key, const char* value) {
  const auto put = [](const char* text) {
    for (; *text != '\0' && trace_buffer.used < TraceBuffer::kFull; ++text) {
      put_byte(*text == '\n' ? ' ' : *text);
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
  const long fd = open_proc("/proc/self/cmdline");
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
  put_line("mode", mode_word(settings.mode));
  if (settings.mode == Mode::sampled) {
    put_line("interval_bytes", settings.interval_bytes);
    if (settings.first_interval_bytes > 0)
      put_line("first_interval_bytes", settings.first_interval_bytes);
  }
  put_line("pid", static_cast<std::uint64_t>(page->pid));
  put_line("parent_pid", static_cast<std::uint64_t>(page->parent_pid));
  put_line("started_ns", page->started_ns);
  put_line("seed", settings.seed);
  put_line("forked", (page->flags & kForked) != 0 ? "yes" : "no");
}

}  // namespace

TraceBuffer trace_buffer;

bool open_trace_file() {
  constexpr TraceHeader header = trace_header();
  if (!file.create(".mdp") || !file.append(&header, sizeof header)) return false;
  trace_buffer.used = 0;
  put_info();
  write_block(BlockType::info);
  return true;
}

void retell_command_line() {
  finish_block();
  trace_buffer.used = 0;
  put_command_line();
  write_block(BlockType::info);
}

void drop_trace_file() {
  file.close();
  trace_buffer.used = TraceBuffer::kNone;
}

void finish_block() {
  if (trace_buffer.used != TraceBuffer::kNone) write_block(BlockType::events);
}

void finish_old_block() {
  if (trace_buffer.used != TraceBuffer::kNone && now_ns() - block_begun_ns >= kOldNs)
    write_block(BlockType::events);
}

void next_block() {
  finish_block();
  begin_block();
}

void begin_pages() {
  finish_block();
  trace_buffer.used = 0;
}

void next_pages() {
  write_block(BlockType::pages);
  trace_buffer.used = 0;
}

void end_pages() {
  write_block(BlockType::snapshot);
}

void end_fork_pages() {
  write_block(BlockType::fork);
}

void tell_info(const char* key, std::uint64_t value) {
  finish_block();
  trace_buffer.used = 0;
  put_line(key, value);
  write_block(BlockType::info);
}

}  // namespace memduel::recorder
