#include "resident_pages.h"

#include <dirent.h>
#include <sys/uio.h>

#include "blocks.h"
#include "counters.h"
#include "hooks/next.h"
#include "mappings.h"
#include "page_scan.h"
#include "proc_lines.h"
#include "stacks/loaded_objects.h"
#include "stacks/stacks.h"
#include "system.h"
#include "trace_writer.h"

namespace memduel::recorder {

namespace {

// Under the trace's lock, all of it.
char lines[64 * 1024];

struct Mapping {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::uint32_t flags;
  std::uint64_t resident;
  std::uint64_t alone;  // of these, mapped by no other process
  bool of_image;        // of a file that has code mapped, below it
  // Where the variables of the image end; the kernel may join the mapping above them. 0: none.
  std::uintptr_t variables_end;
  char name[RunningBlock::kMostText];
};
Mapping mapping;
Mapping before;
Mapping joined;

std::uintptr_t last_page = 0;

// ---- one mapping ------------------------------------------------------------------------------

constexpr std::uintptr_t kMostHeap = std::uintptr_t{64} << 20U;

// The bytes of a further arena of glibc that begins there, or 0 (malloc/arena.c, heap_info): it
// lies at a multiple of its largest size. They may lie in several mappings: the kernel does not
// join what a forked child opens of its parent's arena with the part before it.
std::size_t arena_bytes(std::uintptr_t at) {
  struct HeapInfo {
    std::uintptr_t arena;
    std::uintptr_t before;
    std::size_t size;
    std::size_t writable;
  } info{};
  // Another thread may unmap it meanwhile: the kernel reads it, and fails where we would die.
  const iovec own{&info, sizeof info};
  const iovec there{reinterpret_cast<void*>(at), sizeof info};
  const long got = raw_syscall(SYS_process_vm_readv, page->pid, reinterpret_cast<long>(&own), 1,
                               reinterpret_cast<long>(&there), 1, 0);
  const bool is_arena = got == sizeof info && info.arena != 0 &&
                        info.arena % kMostHeap < kPageBytes && info.before % kMostHeap == 0 &&
                        info.size <= info.writable && info.writable % kPageBytes == 0 &&
                        info.writable <= kMostHeap;
  return is_arena ? info.writable : 0;
}

// The kernel joins an arena's mapping with what lies below it. A page that nobody touched holds
// none, and reading it would make it resident.
void tell_arenas(const Mapping& of, long pagemap) {
  if (!next.glibc || of.name[0] != '\0') return;
  for (std::uintptr_t at = (of.begin + kMostHeap - 1) / kMostHeap * kMostHeap; at < of.end;
       at += kMostHeap) {
    if (!was_touched(pagemap, at)) continue;
    if (const std::size_t bytes = arena_bytes(at); bytes > 0) write_record(pages::Arena{at, bytes});
  }
}

void tell_run(std::uintptr_t first, std::uintptr_t count, bool file) {
  write_record(pages::Pages{first - last_page, count, file ? 1U : 0U});
  last_page = first + count;
}

std::uintptr_t end_of_image(std::uintptr_t at) {
  dl_find_object module{};
  if (find_object(reinterpret_cast<void*>(at), &module) != 0) return 0;
  const auto end = reinterpret_cast<std::uintptr_t>(module.dlfo_map_end);
  return (end + kPageBytes - 1) / kPageBytes * kPageBytes;
}

// Begins with the line of addresses: `begin-end rw-p offset device inode   name`.
void read_header(const char* line) {
  before = mapping;
  mapping.begin = read_hexadecimal(line);
  if (*line == '-') ++line;
  mapping.end = read_hexadecimal(line);
  line = skip_spaces(line);
  mapping.flags = line[0] != '\0' && line[1] == 'w' ? kMappingWritable : 0U;
  if (strlen(line) > 3 && line[3] == 's') mapping.flags |= kMappingShared;
  const bool code = strlen(line) > 3 && line[2] == 'x';
  for (int field = 0; field < 4; ++field) {
    while (*line != ' ' && *line != '\0') ++line;
    line = skip_spaces(line);
  }
  mapping.resident = 0;
  mapping.alone = 0;
  strncpy(mapping.name, line, sizeof mapping.name - 1);
  const bool same_file = before.of_image && strcmp(before.name, mapping.name) == 0;
  mapping.of_image = mapping.name[0] == '/' && (code || same_file);
  // What a library has beyond its file: variables that begin as zeros.
  const bool continues = mapping.name[0] == '\0' && before.end == mapping.begin &&
                         before.of_image &&
                         (before.flags & mapping.flags & kMappingWritable) != 0 &&
                         ((before.flags | mapping.flags) & kMappingShared) == 0;
  mapping.variables_end = 0;
  if (!continues) return;
  mapping.variables_end = end_of_image(before.begin);
  const bool only_touches = mapping.variables_end != 0 && mapping.variables_end <= mapping.begin;
  if (!only_touches) memcpy(mapping.name, before.name, sizeof mapping.name);
}

// True: pages of zeros are not among them.
bool tell_mapping(long pagemap) {
  if (mapping.resident == 0) return true;
  tell_arenas(mapping, pagemap);
  write_record(pages::Mapping{mapping.begin / kPageBytes,
                              (mapping.end - mapping.begin) / kPageBytes, mapping.flags,
                              mapping.resident, mapping.alone, mapping.name});
  last_page = mapping.begin / kPageBytes;
  return scan_pages(pagemap, mapping.begin, mapping.end, tell_run);
}

std::uintptr_t counted_pages = 0;

// As two, where it is more than an image's variables.
bool tell_mapping_apart(long pagemap) {
  if (mapping.variables_end <= mapping.begin || mapping.variables_end >= mapping.end)
    return tell_mapping(pagemap);
  joined = mapping;
  counted_pages = 0;
  scan_pages(pagemap, joined.begin, joined.variables_end,
             [](std::uintptr_t, std::uintptr_t pages, bool) { counted_pages += pages; });
  mapping.end = joined.variables_end;
  mapping.resident = counted_pages * kPageBytes;
  if (mapping.resident > joined.resident) mapping.resident = joined.resident;
  if (joined.resident != 0) mapping.alone = joined.alone * mapping.resident / joined.resident;
  const std::uint64_t resident = joined.resident - mapping.resident;
  const std::uint64_t alone = joined.alone - mapping.alone;
  const bool first = tell_mapping(pagemap);
  mapping.begin = joined.variables_end;
  mapping.end = joined.end;
  mapping.resident = resident;
  mapping.alone = alone;
  mapping.name[0] = '\0';
  const bool second = tell_mapping(pagemap);
  return first && second;
}

struct Sums {
  std::uint64_t hugetlb;
  bool zeros_apart;
};

void tell_mappings(ProcLines& smaps, long pagemap, Sums& sums) {
  mapping = {};
  while (char* line = smaps.next()) {
    if (strncmp(line, "VmFlags:", 8) == 0) {
      if (!tell_mapping_apart(pagemap)) sums.zeros_apart = false;
    } else if (*line >= 'A' && *line <= 'Z') {
      add_kilobytes(line, "Rss:", mapping.resident) ||
          add_kilobytes(line, "Private_Clean:", mapping.alone) ||
          add_kilobytes(line, "Private_Dirty:", mapping.alone) ||
          add_kilobytes(line, "Private_Hugetlb:", sums.hugetlb) ||
          add_kilobytes(line, "Shared_Hugetlb:", sums.hugetlb);
    } else {
      read_header(line);
    }
  }
}

// ---- whose ------------------------------------------------------------------------------------

bool first_stack_is_mapped = false;

// glibc keeps the head of a thread's robust futexes in its descriptor, at the top of its stack.
void tell_stack_of(std::int64_t thread) {
  std::uintptr_t head = 0;
  std::size_t length = 0;
  const long status = raw_syscall(SYS_get_robust_list, static_cast<long>(thread),
                                  reinterpret_cast<long>(&head), reinterpret_cast<long>(&length));
  if (status != 0 || head == 0) return;
  write_record(pages::Stack{head});
}

void tell_stacks() {
  const long tasks = raw_syscall(SYS_open, reinterpret_cast<long>("/proc/self/task"),
                                 O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks < 0) return;
  for (;;) {
    const long got = raw_syscall(SYS_getdents64, tasks, reinterpret_cast<long>(lines),
                                 static_cast<long>(sizeof lines));
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const dirent64*>(lines + at);
      const char* name = entry->d_name;
      const auto thread = static_cast<std::int64_t>(read_decimal(name));
      // The main thread's descriptor is the dynamic linker's; its stack has a name.
      if (thread != 0 && (thread != page->pid || first_stack_is_mapped)) tell_stack_of(thread);
      at += entry->d_reclen;
    }
  }
  raw_syscall(SYS_close, tasks);
}

void tell_block(const LiveRecord& block) {
  const std::uint32_t node = told_number(block.node, nullptr);  // it is told already
  write_record(pages::Block{node, block.requested, block.extra, block.round,
                            reinterpret_cast<std::uintptr_t>(block.block)});
}

void tell_whose() {
  if (settings.mode != Mode::exact) visit_live(tell_block);
  tell_stacks();
  visit_own_ranges(
      [](std::uintptr_t at, std::size_t bytes) { write_record(pages::Own{at, bytes}); });
  visit_allocator_mappings([](const Range& range) {
    write_record(pages::Allocator{range.begin, range.end - range.begin});
  });
}

struct Rollup {
  std::uint64_t resident;
  std::uint64_t swapped;
};

// The kernel walks all pages for it.
Rollup read_rollup() {
  char buffer[4096];
  ProcLines file("/proc/self/smaps_rollup", buffer, sizeof buffer);
  Rollup sums{0, 0};
  while (file.is_open()) {
    const char* line = file.next();
    if (line == nullptr) break;
    add_kilobytes(line, "Rss:", sums.resident) || add_kilobytes(line, "Swap:", sums.swapped);
  }
  return sums;
}

// ---- at a fork --------------------------------------------------------------------------------

// Of a line of addresses: `begin-end rw-p …`. One of them is in the kernel's half.
bool is_private_memory(const char* line) {
  const char* rights = line + strcspn(line, " ");
  if (strlen(rights) < 5 || strstr(rights, "[vsyscall]") != nullptr) return false;
  return strncmp(rights + 1, "---", 3) != 0 && rights[4] == 'p';
}

void next_fork_block() {
  end_fork_pages();
  begin_pages();
}

void tell_anonymous_run(std::uintptr_t first, std::uintptr_t pages, bool file) {
  if (file) return;
  if (trace_buffer.used >= RunningBlock::kFull) next_fork_block();
  tell_run(first, pages, false);
}

void tell_fork_mapping(const char* line, long pagemap) {
  const std::uintptr_t begin = read_hexadecimal(line);
  if (*line == '-') ++line;
  const std::uintptr_t end = read_hexadecimal(line);
  if (trace_buffer.used >= RunningBlock::kFull) next_fork_block();
  write_record(pages::Mapping{begin / kPageBytes, (end - begin) / kPageBytes, 0, 0, 0, ""});
  last_page = begin / kPageBytes;
  scan_pages(pagemap, begin, end, tell_anonymous_run);
}

}  // namespace

void write_fork_pages() {
  const long pagemap = open_proc("/proc/self/pagemap");
  if (pagemap < 0) return;
  ProcLines maps("/proc/self/maps", lines, sizeof lines);
  if (maps.is_open()) {
    begin_pages();
    while (const char* line = maps.next())
      if (is_private_memory(line)) tell_fork_mapping(line, pagemap);
    end_fork_pages();
  }
  raw_syscall(SYS_close, pagemap);
}

void note_mapped_first_stack() {
  first_stack_is_mapped = true;
}

bool write_resident_pages() {
  const std::uint64_t begun = now_ns();
  const long pagemap = open_proc("/proc/self/pagemap");
  if (pagemap < 0) return false;
  {
    ProcLines smaps("/proc/self/smaps", lines, sizeof lines);
    if (!smaps.is_open()) {
      raw_syscall(SYS_close, pagemap);
      return false;
    }
    begin_pages();
    write_record(pages::Begin{
        begun,
        page->round.kind == ScopeKind::round ? static_cast<std::uint64_t>(page->round.round) : 0,
        page->phase.kind == ScopeKind::phase ? page->phase.phase : "",
        settings.mode == Mode::exact ? 0U : 1U});
    Sums sums{0, true};
    tell_mappings(smaps, pagemap, sums);
    raw_syscall(SYS_close, pagemap);
    const Rollup rollup = read_rollup();
    tell_whose();
    write_record(pages::End{rollup.resident, rollup.swapped, sums.hugetlb, now_ns() - begun,
                            sums.zeros_apart ? 1U : 0U});
  }
  end_pages();
  return true;
}

std::uint64_t own_resident_bytes() {
  static long pagemap;
  static std::uint64_t own_pages;
  pagemap = open_proc("/proc/self/pagemap");
  if (pagemap < 0) return 0;
  own_pages = 0;
  visit_own_ranges([](std::uintptr_t at, std::size_t bytes) {
    scan_pages(pagemap, at, at + (bytes + kPageBytes - 1) / kPageBytes * kPageBytes,
               [](std::uintptr_t, std::uintptr_t pages, bool) { own_pages += pages; });
  });
  raw_syscall(SYS_close, pagemap);
  return own_pages * kPageBytes;
}

std::uint64_t peak_resident_bytes() {
  static char lines[32 * 1024];
  return status_bytes("VmHWM:", lines, sizeof lines);
}

std::uint64_t resident_bytes() {
  char text[128];
  const long file = open_proc("/proc/self/statm");
  if (file < 0) return 0;
  const long got = raw_syscall(SYS_read, file, reinterpret_cast<long>(text), sizeof text - 1);
  raw_syscall(SYS_close, file);
  if (got <= 0) return 0;
  text[got] = '\0';
  const char* at = text;
  read_decimal(at);
  at = skip_spaces(at);
  return read_decimal(at) * kPageBytes;
}

}  // namespace memduel::recorder
