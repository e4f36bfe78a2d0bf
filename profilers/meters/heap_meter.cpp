#include "heap_meter.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "memory/proc_files.h"
#include "recorder/layout.h"

namespace memduel {
namespace {

// Documentation/admin-guide/mm/pagemap.rst of Linux: bits of a page's entry.
constexpr std::uint64_t kInMemory = std::uint64_t{1} << 63;
constexpr std::uint64_t kInSwap = std::uint64_t{1} << 62;
constexpr std::uint64_t kOfNoOther = std::uint64_t{1} << 56;

}  // namespace

TouchedPages::TouchedPages(pid_t pid)
    : descriptor_(
          ::open(("/proc/" + std::to_string(pid) + "/pagemap").c_str(), O_RDONLY | O_CLOEXEC)) {}

std::int64_t TouchedPages::bytes_in(std::uint64_t begin, std::uint64_t end, Count count) const {
  static const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  thread_local std::array<std::uint64_t, 8192> entries;
  std::int64_t pages = 0;
  std::uint64_t at = begin / page_bytes;
  const std::uint64_t last = end / page_bytes;
  while (descriptor_ && at < last) {
    const std::size_t asked = std::min<std::size_t>(last - at, entries.size());
    const ssize_t got = ::pread(descriptor_.get(), entries.data(), asked * sizeof entries[0],
                                static_cast<off_t>(at * sizeof entries[0]));
    if (got < static_cast<ssize_t>(sizeof entries[0])) break;
    const std::size_t read = static_cast<std::size_t>(got) / sizeof entries[0];
    for (std::size_t i = 0; i < read; ++i) {
      const bool touched = (entries[i] & (kInMemory | kInSwap)) != 0;
      const bool counts = count == Count::all || (entries[i] & kOfNoOther) != 0;
      pages += static_cast<std::int64_t>(touched && counts);
    }
    at += read;
  }
  return pages * static_cast<std::int64_t>(page_bytes);
}

namespace {

using recorder::HeapPage;

/// Between two looks for new images and for those that were killed.
constexpr std::int64_t kLookInterval = 5'000'000;

/// A program that has just been executed has no page yet, and a process that has just been forked
/// shares its parent's memory.
constexpr std::int64_t kUncountedFrom = 50'000'000;

/// Between two looks at what is touched; a look may take so much of a CPU.
constexpr std::int64_t kTouchInterval = 5'000'000;
constexpr std::int64_t kRestPerTouch = 50;

std::int64_t load(const std::int64_t& counter) {
  return __atomic_load_n(&counter, __ATOMIC_RELAXED);
}

/// Gone, or a zombie that nobody has waited for.
bool has_ended(std::int64_t pid) {
  const auto line = process_line(static_cast<pid_t>(pid));
  return line ? is_dead(*line) : line.is_gone();
}

}  // namespace

struct HeapMeter::Image {
  explicit Image(const std::filesystem::path& file) {
    const Descriptor opened(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    // A page that is not there yet would be SIGBUS.
    if (::lseek(opened.get(), 0, SEEK_END) < static_cast<off_t>(sizeof(HeapPage))) return;
    void* memory = ::mmap(nullptr, sizeof(HeapPage), PROT_READ, MAP_SHARED, opened.get(), 0);
    if (memory != MAP_FAILED) page = static_cast<const HeapPage*>(memory);
  }
  ~Image() {
    if (page != nullptr) ::munmap(const_cast<HeapPage*>(page), sizeof(HeapPage));
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  [[nodiscard]] bool finished() const {
    return (__atomic_load_n(&page->flags, __ATOMIC_ACQUIRE) & recorder::kFinished) != 0;
  }
  /// A forked child may free what it has from its parent.
  [[nodiscard]] std::int64_t live() const {
    return std::max<std::int64_t>(0, load(page->live_bytes) - load(page->inherited_bytes));
  }
  [[nodiscard]] std::int64_t mapped() const {
    return std::max<std::int64_t>(0,
                                  load(page->mapping_bytes) - load(page->inherited_mapping_bytes));
  }
  [[nodiscard]] std::int64_t dense() const {
    return std::max<std::int64_t>(0, load(page->dense_bytes) - load(page->inherited_dense_bytes));
  }
  /// Of the larger mappings, as it was last looked at; of what is mapped no more nothing.
  std::int64_t touched(std::int64_t now_ns);

  const HeapPage* page = nullptr;

 private:
  struct Touched {
    recorder::SparseRange range;
    std::int64_t bytes;
  };
  bool read_ranges();
  [[nodiscard]] bool is_inherited(const recorder::SparseRange& range) const;

  std::unique_ptr<TouchedPages> pages_;
  std::vector<recorder::SparseRange> ranges_;
  std::uint32_t version_ = 0;
  std::vector<Touched> looked_at_;
  std::int64_t due_ns_ = 0;
};

/// False while the process changes them.
bool HeapMeter::Image::read_ranges() {
  const std::uint32_t version = __atomic_load_n(&page->sparse_version, __ATOMIC_ACQUIRE);
  if (version == version_) return true;
  std::vector<recorder::SparseRange> ranges(
      page->sparse, page->sparse + std::min(page->sparse_count, recorder::kMostSparse));
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (version % 2 == 1 || version != __atomic_load_n(&page->sparse_version, __ATOMIC_RELAXED))
    return false;
  ranges_ = std::move(ranges);
  version_ = version;
  return true;
}

bool HeapMeter::Image::is_inherited(const recorder::SparseRange& range) const {
  const auto* first = page->inherited_ranges;
  return std::any_of(first,
                     first + std::min<std::uint64_t>(page->inherited_count, recorder::kMostSparse),
                     [&](const recorder::SparseRange& old) {
                       return old.begin < range.end && range.begin < old.end;
                     });
}

std::int64_t HeapMeter::Image::touched(std::int64_t now_ns) {
  if (__atomic_load_n(&page->sparse_mappings, __ATOMIC_RELAXED) == 0 || !read_ranges()) return 0;
  if (now_ns >= due_ns_) {
    const std::int64_t cpu_before = thread_cpu_ns();
    if (!pages_) pages_ = std::make_unique<TouchedPages>(static_cast<pid_t>(page->pid));
    looked_at_.clear();
    for (const recorder::SparseRange& range : ranges_) {
      const auto counted =
          is_inherited(range) ? TouchedPages::Count::own : TouchedPages::Count::all;
      looked_at_.push_back({range, pages_->bytes_in(range.begin, range.end, counted)});
    }
    due_ns_ = now_ns + std::max(kTouchInterval, kRestPerTouch * (thread_cpu_ns() - cpu_before));
  }
  std::int64_t bytes = 0;
  for (const Touched& seen : looked_at_) {
    std::int64_t left = 0;  // of the range, in today's ones
    for (const recorder::SparseRange& range : ranges_) {
      const std::uint64_t begin = std::max(range.begin, seen.range.begin);
      const std::uint64_t end = std::min(range.end, seen.range.end);
      if (begin < end) left += static_cast<std::int64_t>(end - begin);
    }
    bytes += std::min(left, seen.bytes);
  }
  return bytes;
}

/// A process that was given to the meter and has no page.
struct HeapMeter::Uncounted {
  pid_t pid = 0;
  std::int64_t since_ns = 0;  ///< 0: it has not been looked at
};

struct HeapMeter::Role {
  std::string name;
  std::filesystem::path directory;  ///< empty for a role of descendants
  std::set<std::string> known;      ///< files
  std::vector<std::unique_ptr<Image>> running;
};

HeapMeter::HeapMeter(const MeterSite& site) : left_out_(site.left_out) {
  for (const auto& [role, directory] : site.heap_directories) add_role(role, directory);
}

HeapMeter::~HeapMeter() = default;

void HeapMeter::add_role(const std::string& role, const std::filesystem::path& directory) {
  roles_.push_back(std::make_unique<Role>(Role{role, directory, {}, {}}));
  for (SampledSums* sums : {&live_, &mapped_, &together_, &uncounted_bytes_}) sums->add_role(role);
}

void HeapMeter::add(const std::string& role, pid_t pid) {
  auto found = std::ranges::find_if(roles_, [&](const auto& each) { return each->name == role; });
  if (found == roles_.end()) {
    if (left_out_.contains(role)) return;
    add_role(role, {});
    found = std::prev(roles_.end());
  }
  if (!given_.contains(pid)) uncounted_.push_back(std::make_unique<Uncounted>(Uncounted{pid, 0}));
  given_[pid] = static_cast<std::size_t>(found - roles_.begin());
}

void HeapMeter::find_images(Role& role) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(role.directory, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (at->path().extension() != ".heap" || role.known.contains(name)) continue;
    auto image = std::make_unique<Image>(at->path());
    if (image->page == nullptr) continue;
    role.known.insert(name);
    role.running.push_back(std::move(image));
  }
  std::erase_if(role.running, [](const auto& image) { return has_ended(image->page->pid); });
}

std::size_t HeapMeter::role_of(pid_t pid, std::size_t otherwise) const {
  const auto given = given_.find(pid);
  return given == given_.end() ? otherwise : given->second;
}

void HeapMeter::add_images(std::int64_t now_ns, Values& live, Values& mapped, Values& together) {
  for (std::size_t at = 0; at < roles_.size(); ++at) {
    for (const auto& image : roles_[at]->running) {
      const std::size_t role = role_of(static_cast<pid_t>(image->page->pid), at);
      const std::int64_t heap = image->live();
      add_up(live[role], heap);
      add_up(mapped[role], image->mapped());
      add_up(together[role], heap + image->dense() + image->touched(now_ns));
    }
  }
}

void HeapMeter::add_uncounted(std::int64_t now_ns, Values& uncounted, Values& together) {
  static const std::int64_t page_bytes = ::sysconf(_SC_PAGESIZE);
  std::set<pid_t> counted;
  for (const auto& role : roles_)
    for (const auto& image : role->running) counted.insert(static_cast<pid_t>(image->page->pid));
  std::erase_if(uncounted_, [&](const std::unique_ptr<Uncounted>& process) {
    if (counted.contains(process->pid)) {
      process->since_ns = now_ns;
      return false;
    }
    if (process->since_ns == 0) process->since_ns = now_ns;
    if (now_ns - process->since_ns < kUncountedFrom) return false;
    const auto pages = process_pages(process->pid);
    if (!pages) {
      given_.erase(process->pid);  // another process may get its number
      return true;
    }
    const auto line = process_line(process->pid);
    if (line && is_only_forked(*line)) return false;
    const std::int64_t bytes = pages->anonymous() * page_bytes;
    if (bytes == 0) return false;  // a zombie, until somebody waits for it
    const std::size_t role = role_of(process->pid, 0);
    add_up(uncounted[role], bytes);
    add_up(together[role], bytes);
    return false;
  });
}

bool HeapMeter::sample(std::int64_t now_ns) {
  const bool look = now_ns >= look_again_ns_;
  if (look) look_again_ns_ = now_ns + kLookInterval;
  Values live(roles_.size());
  Values mapped(roles_.size());
  Values together(roles_.size());
  Values uncounted(roles_.size());
  for (const auto& role : roles_) {
    if (look && !role->directory.empty()) find_images(*role);
    std::erase_if(role->running, [](const auto& image) { return image->finished(); });
  }
  add_images(now_ns, live, mapped, together);
  add_uncounted(now_ns, uncounted, together);
  mapped_.add(now_ns, mapped);
  uncounted_bytes_.add(now_ns, uncounted);
  const bool heap_moved = live_.add(now_ns, live);
  return together_.add(now_ns, together) || heap_moved;
}

std::vector<std::pair<std::string, Series>> HeapMeter::series() const {
  std::vector<std::pair<std::string, Series>> all;
  for (const SampledSums* sums : {&live_, &mapped_, &together_, &uncounted_bytes_})
    for (auto& one : sums->series()) all.push_back(std::move(one));
  return all;
}

}  // namespace memduel
