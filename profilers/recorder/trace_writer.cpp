#include "trace_writer.h"

#include <cstring>

#include "counters.h"
#include "hooks/next.h"
#include "own_file.h"
#include "proc_lines.h"
#include "stacks/stacks.h"

/// Where the library's memory ends: the linker's.
extern "C" const char _end[] MEMDUEL_HIDDEN;

namespace memduel::recorder {

namespace {

OwnFile file;

template <class Number>
Number load(const Number& counter) {
  return __atomic_load_n(&counter, __ATOMIC_RELAXED);
}

void begin(BlockType type) {
  trace_buffer.header.type = type;
  trace_buffer.offset = static_cast<std::uint64_t>(file.end());
  __atomic_store_n(&trace_buffer.used, std::uint64_t{0}, __ATOMIC_RELEASE);
}

void begin_block() {
  publish();  // the counters of a program with one thread are then those of this place
  trace_buffer.last_address = 0;
  trace_buffer.interval = 0;
  begin(BlockType::events);
  write_record(events::Counters{now_ns(), next_untold_node(), load(page->live_bytes),
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
  __atomic_store_n(&trace_buffer.used, RunningBlock::kNone, __ATOMIC_RELEASE);
}

// In place of the buffer's own memory; false leaves that as it is. Space is reserved now, because
// writing to a hole of a mapped file on a full disk kills a program.
void share_buffer() {
  static bool noted = false;
  OwnFile shared;
  trace_buffer.used = RunningBlock::kNone;
  if (shared.create(".block") && shared.append(&trace_buffer, sizeof trace_buffer))
    raw_syscall(SYS_mmap, reinterpret_cast<long>(&trace_buffer), sizeof trace_buffer,
                PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, shared.descriptor(), 0);
  shared.close();
  // The file's mapping parts what follows in the library's memory from the library.
  if (!noted)
    note_own_range(&trace_buffer,
                   static_cast<std::size_t>(_end - reinterpret_cast<const char*>(&trace_buffer)));
  noted = true;
}

void put_byte(char byte) {
  trace_buffer.bytes[trace_buffer.used++] = static_cast<unsigned char>(byte);
}

void put_line(const char* key, const char* value) {
  const auto put = [](const char* text) {
    for (; *text != '\0' && trace_buffer.used < RunningBlock::kFull; ++text) {
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

RunningBlock trace_buffer;

bool open_trace_file() {
  constexpr TraceHeader header = trace_header();
  if (!file.create(".mdp") || !file.append(&header, sizeof header)) return false;
  share_buffer();
  begin(BlockType::info);
  put_info();
  write_block(BlockType::info);
  return true;
}

void retell_command_line() {
  finish_block();
  begin(BlockType::info);
  put_command_line();
  write_block(BlockType::info);
}

void drop_trace_file() {
  file.close();
  // A handler that forked in the middle of a record goes on with it in the child.
  raw_syscall(SYS_mmap, reinterpret_cast<long>(&trace_buffer), sizeof trace_buffer,
              PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  trace_buffer.used = RunningBlock::kNone;
}

void finish_block() {
  if (trace_buffer.used != RunningBlock::kNone) write_block(BlockType::events);
}

void next_block() {
  finish_block();
  begin_block();
}

void begin_pages() {
  finish_block();
  begin(BlockType::pages);
}

void next_pages() {
  write_block(BlockType::pages);
  begin(BlockType::pages);
}

void end_pages() {
  write_block(BlockType::snapshot);
}

void end_fork_pages() {
  write_block(BlockType::fork);
}

void tell_info(const char* key, std::uint64_t value) {
  finish_block();
  begin(BlockType::info);
  put_line(key, value);
  write_block(BlockType::info);
}

}  // namespace memduel::recorder
