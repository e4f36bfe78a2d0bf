#include "counters.h"

#include <sys/auxv.h>
#include <sys/stat.h>

#include <cstring>

#include "hooks/next.h"
#include "memduel/annotate.h"
#include "own_file.h"

namespace memduel::recorder {

Settings settings;

namespace {

HeapPage private_page;
OwnFile page_file;
Lock scopes_lock;

template <class Number>
void raise(Number& counter, Number value) {
  Number seen = __atomic_load_n(&counter, __ATOMIC_RELAXED);
  while (seen < value && !__atomic_compare_exchange_n(&counter, &seen, value, true,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

template <class Number>
Number load(const Number& counter) {
  return __atomic_load_n(&counter, __ATOMIC_RELAXED);
}

std::int64_t least(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

// While live bytes are below every running peak, growth up to the lowest of them needs no visit.
void grant_room(std::int64_t live) {
  if (tls.leaving) {
    tls.high = 0;
    tls.room = 0;
    tls.free_left = 0;
    tls.publish_at = 0;
    return;
  }
  std::int64_t slack = least(load(page->peak_bytes), load(page->round.peak_bytes));
  slack = least(slack, load(page->phase.peak_bytes));
  std::int64_t together =
      least(load(page->together_peak_bytes), load(page->round.together_peak_bytes));
  together = least(together, load(page->phase.together_peak_bytes));
  slack = least(slack, together - load(page->dense_bytes)) - live;
  if (slack < 0) slack = 0;
  const std::int64_t most = publish_bytes();
  slack = least(slack, most);
  tls.high = slack;
  tls.room = slack;
  tls.free_left = most;
  tls.publish_at = most;
}

void raise_together(std::int64_t bytes) {
  raise(page->together_peak_bytes, bytes);
  raise(page->round.together_peak_bytes, bytes);
  raise(page->phase.together_peak_bytes, bytes);
}

char* append(char* at, const char* end, const char* text) {
  while (*text != '\0' && at + 1 < end) *at++ = *text++;
  *at = '\0';
  return at;
}

char* append_number(char* at, const char* end, std::uint64_t value) {
  char digits[24];
  char* first = digits + sizeof digits - 1;
  *first = '\0';
  do {
    *--first = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  return append(at, end, first);
}

bool is_file(const char* path, struct stat& found) {
  return raw_syscall(SYS_stat, reinterpret_cast<long>(path), reinterpret_cast<long>(&found)) == 0;
}

const char* file_name(const char* path) {
  const char* name = path;
  for (; *path != '\0'; ++path)
    if (*path == '/') name = path + 1;
  return name;
}

// As it was called, where a link stands for several programs in one: redis-server, not the
// redis-check-rdb that it points to. A script was called by another name than its interpreter.
void name_program(char* program, std::size_t size) {
  memset(program, 0, size);
  raw_syscall(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"),
              reinterpret_cast<long>(program), static_cast<long>(size - 1));
  const auto* called = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  struct stat own{};
  struct stat named{};
  if (called == nullptr || called[0] != '/' || strlen(called) >= size) return;
  if (strcmp(file_name(called), file_name(program)) == 0) return;  // /bin may be a link to /usr/bin
  if (!is_file("/proc/self/exe", own) || !is_file(called, named)) return;
  if (own.st_dev == named.st_dev && own.st_ino == named.st_ino)
    memcpy(program, called, strlen(called) + 1);
}

void describe_image(HeapPage& fresh, std::uint32_t flags) {
  memcpy(fresh.magic, kPageMagic, sizeof fresh.magic);
  fresh.page_bytes = sizeof(HeapPage);
  fresh.scope_bytes = sizeof(Scope);
  fresh.mode = settings.mode;
  fresh.flags = flags;
  fresh.pid = raw_syscall(SYS_getpid);
  fresh.parent_pid = raw_syscall(SYS_getppid);
  fresh.started_ns = now_ns();
  fresh.interval_bytes = settings.mode == Mode::sampled ? settings.interval_bytes : 0;
  name_program(fresh.program, sizeof fresh.program);
  memcpy(fresh.allocator, next.provider, sizeof fresh.allocator);
}

// Space is reserved now, because writing to a hole of a mapped file on a full disk kills a program.
HeapPage* map_file(const HeapPage& fresh) {
  page = &private_page;
  if (!page_file.create(".heap") || !page_file.append(&fresh, sizeof fresh)) return nullptr;
  const long at = raw_syscall(SYS_mmap, 0, sizeof(HeapPage), PROT_READ | PROT_WRITE, MAP_SHARED,
                              page_file.descriptor(), 0);
  if (at < 0 && at > -4096) return nullptr;
  note_own_range(reinterpret_cast<void*>(at), sizeof(HeapPage));
  return reinterpret_cast<HeapPage*>(at);
}

void close_scope(Scope& scope, std::uint64_t now) {
  if (scope.kind == ScopeKind::none) return;
  scope.end_ns = now;
  scope.live_end_bytes = load(page->live_bytes);
  scope.mapping_end_bytes = load(page->mapping_bytes);
  scope.dense_end_bytes = load(page->dense_bytes);
  scope.allocated_end_bytes = load(page->allocated_bytes);
  scope.allocations_end = load(page->allocations);
  if (page_file.append(&scope, sizeof scope)) {
    __atomic_fetch_add(&page->scopes, 1, __ATOMIC_RELEASE);
  } else {
    count_lost();
  }
  scope.kind = ScopeKind::none;
}

void open_scope(Scope& scope, ScopeKind kind, int round, const char* phase, std::uint64_t now) {
  scope.round = round;
  memset(scope.phase, 0, sizeof scope.phase);
  if (phase != nullptr) strncpy(scope.phase, phase, sizeof scope.phase - 1);
  scope.begin_ns = now;
  scope.end_ns = 0;
  scope.live_begin_bytes = load(page->live_bytes);
  __atomic_store_n(&scope.peak_bytes, scope.live_begin_bytes, __ATOMIC_RELAXED);
  __atomic_store_n(&scope.mapping_peak_bytes, load(page->mapping_bytes), __ATOMIC_RELAXED);
  __atomic_store_n(&scope.together_peak_bytes, scope.live_begin_bytes + load(page->dense_bytes),
                   __ATOMIC_RELAXED);
  scope.allocated_begin_bytes = load(page->allocated_bytes);
  scope.allocations_begin = load(page->allocations);
  scope.kind = kind;
}

void move_scopes(int kind, int round, const char* phase) {
  const std::uint64_t now = now_ns();
  if (kind == MEMDUEL_MARK_ROUND_BEGIN || kind == MEMDUEL_MARK_ROUND_END) {
    close_scope(page->phase, now);
    close_scope(page->round, now);
    if (kind == MEMDUEL_MARK_ROUND_BEGIN) {
      open_scope(page->round, ScopeKind::round, round, nullptr, now);
    }
  } else if (kind == MEMDUEL_MARK_PHASE) {
    close_scope(page->phase, now);
    const int running = page->round.kind == ScopeKind::round ? page->round.round : 0;
    if (phase != nullptr) open_scope(page->phase, ScopeKind::phase, running, phase, now);
  }
}

}  // namespace

HeapPage* page = &private_page;

void image_path(const char* suffix, char* path, std::size_t capacity) {
  const char* end = path + capacity;
  char* at = append(path, end, settings.directory);
  at = append(at, end, "/");
  at = append_number(at, end, private_page.started_ns);
  at = append(at, end, "-");
  at = append_number(at, end, static_cast<std::uint64_t>(private_page.pid));
  append(at, end, suffix);
}

void publish() {
  if (!is_recorded_process() && page != &private_page) leave_page_after_fork();
  const std::int64_t delta = tls.high - tls.room;
  const std::int64_t before = __atomic_fetch_add(&page->live_bytes, delta, __ATOMIC_RELAXED);
  const std::int64_t high = before + tls.high;
  raise(page->peak_bytes, high);
  raise(page->round.peak_bytes, high);
  raise(page->phase.peak_bytes, high);
  raise_together(high + load(page->dense_bytes));
  __atomic_fetch_add(&page->allocated_bytes, static_cast<std::uint64_t>(tls.granted - tls.left),
                     __ATOMIC_RELAXED);
  __atomic_fetch_add(&page->allocations, tls.allocations, __ATOMIC_RELAXED);
  tls.granted = tls.left;
  tls.allocations = 0;
  grant_room(before + delta);
}

// What was freed since the last grant may have been allocated again, which `room` knows.
void publish_loss() {
  const std::int64_t loss = tls.room - tls.high;
  const std::int64_t most = publish_bytes();
  if (tls.leaving || loss >= most) return publish();
  tls.free_left = most - loss;
}

bool open_page() {
  describe_image(private_page, 0);
  HeapPage* mapped = map_file(private_page);
  if (mapped == nullptr) return false;
  page = mapped;
  return true;
}

bool reopen_page_after_fork(std::int64_t inherited_bytes, const MappedBytes& inherited) {
  HeapPage* old = page;
  SparseRange inherited_ranges[kMostSparse];
  const std::uint32_t inherited_count = old->sparse_count;
  memcpy(inherited_ranges, old->sparse, sizeof inherited_ranges);
  if (old != &private_page) release_memory(old, sizeof(HeapPage));
  page_file.close();
  scopes_lock.reset();
  private_page = HeapPage{};
  private_page.live_bytes = inherited_bytes;
  private_page.peak_bytes = inherited_bytes;
  private_page.inherited_bytes = inherited_bytes;
  private_page.mapping_bytes = inherited.all;
  private_page.mapping_peak_bytes = inherited.all;
  private_page.inherited_mapping_bytes = inherited.all;
  private_page.dense_bytes = inherited.dense;
  private_page.inherited_dense_bytes = inherited.dense;
  private_page.together_peak_bytes = inherited_bytes + inherited.dense;
  private_page.inherited_count = inherited_count;
  memcpy(private_page.inherited_ranges, inherited_ranges, sizeof inherited_ranges);
  private_page.threads = 1;
  describe_image(private_page, kForked);
  HeapPage* mapped = map_file(private_page);
  if (mapped == nullptr) return false;
  page = mapped;
  return true;
}

void leave_page_after_fork() {
  private_page = HeapPage{};
  page = &private_page;
}

void mark(int kind, int round, const char* phase) {
  publish();
  scopes_lock.lock();
  move_scopes(kind, round, phase);
  scopes_lock.unlock();
  grant_room(load(page->live_bytes));
}

void restart_round(std::size_t requested, std::int64_t bytes) {
  scopes_lock.lock();
  const std::int64_t live = load(page->live_bytes);
  Scope& round = page->round;
  round.live_begin_bytes = live - bytes;
  __atomic_store_n(&round.peak_bytes, live, __ATOMIC_RELAXED);
  __atomic_store_n(&round.together_peak_bytes, live + load(page->dense_bytes), __ATOMIC_RELAXED);
  round.allocated_begin_bytes = load(page->allocated_bytes) - requested;
  round.allocations_begin = load(page->allocations) - 1;
  scopes_lock.unlock();
  grant_room(live);
}

// What the thread keeps to itself was beside the mappings as they were.
void add_mapping(const MappedBytes& bytes) {
  if (tls.id != 0) publish();
  const std::int64_t now = __atomic_add_fetch(&page->mapping_bytes, bytes.all, __ATOMIC_RELAXED);
  raise(page->mapping_peak_bytes, now);
  raise(page->round.mapping_peak_bytes, now);
  raise(page->phase.mapping_peak_bytes, now);
  const std::int64_t dense = __atomic_add_fetch(&page->dense_bytes, bytes.dense, __ATOMIC_RELAXED);
  raise_together(load(page->live_bytes) + dense);
  __atomic_fetch_add(&page->mapped_bytes, static_cast<std::uint64_t>(bytes.all), __ATOMIC_RELAXED);
  __atomic_fetch_add(&page->mappings, 1, __ATOMIC_RELAXED);
  if (tls.id != 0) grant_room(load(page->live_bytes));
}

void remove_mapping(const MappedBytes& bytes) {
  if (tls.id != 0) publish();
  __atomic_fetch_sub(&page->mapping_bytes, bytes.all, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&page->dense_bytes, bytes.dense, __ATOMIC_RELAXED);
}

// Beside the most that was live since the thread last published, which may be more than is now: it
// may be here because of a free.
void note_touched(std::int64_t touched) {
  const std::int64_t live = load(page->live_bytes) + (tls.id != 0 ? tls.high : 0);
  if (tls.id != 0) publish();
  raise_together(live + load(page->dense_bytes) + touched);
}

void show_sparse(const SparseRange* ranges, std::size_t count) {
  if (count > page->sparse_count) page->sparse_mappings += count - page->sparse_count;
  __atomic_fetch_add(&page->sparse_version, 1, __ATOMIC_ACQ_REL);
  memcpy(page->sparse, ranges, count * sizeof(SparseRange));
  page->sparse_count = static_cast<std::uint32_t>(count);
  __atomic_fetch_add(&page->sparse_version, 1, __ATOMIC_RELEASE);
}

void note_files(std::uint64_t bytes) {
  raise(page->file_peak_bytes, bytes);
}

void count_lost() {
  __atomic_fetch_add(&page->lost, 1, __ATOMIC_RELAXED);
}

void finish_page(std::uint32_t how) {
  publish();
  __atomic_store_n(&page->ended_ns, now_ns(), __ATOMIC_RELAXED);
  __atomic_fetch_or(&page->flags, how, __ATOMIC_RELEASE);
}

}  // namespace memduel::recorder
