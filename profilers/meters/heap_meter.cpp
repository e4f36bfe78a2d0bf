#include "profilers/meters/heap_meter.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "profilers/recorder/layout.h"

namespace memduel {
namespace {

using recorder::HeapPage;

/// Between two looks for new images and for those that were killed.
constexpr std::int64_t kLookInterval = 5'000'000;

/// Gone, or a zombie that nobody has waited for.
bool is_dead(std::int64_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);
  const auto name_end = text.rfind(") ");
  return name_end == std::string::npos || name_end + 2 >= text.size() ||
         text[name_end + 2] == 'Z' || text[name_end + 2] == 'X';
}

}  // namespace

struct HeapMeter::Image {
  explicit Image(const std::filesystem::path& file) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    // A page that is not there yet would be SIGBUS.
    if (::lseek(fd, 0, SEEK_END) >= static_cast<off_t>(sizeof(HeapPage))) {
      void* memory = ::mmap(nullptr, sizeof(HeapPage), PROT_READ, MAP_SHARED, fd, 0);
      if (memory != MAP_FAILED) page = static_cast<const HeapPage*>(memory);
    }
    ::close(fd);
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
    return std::max<std::int64_t>(0, __atomic_load_n(&page->live_bytes, __ATOMIC_RELAXED) -
                                         __atomic_load_n(&page->inherited_bytes, __ATOMIC_RELAXED));
  }

  const HeapPage* page = nullptr;
};

struct HeapMeter::Role {
  std::string name;
  std::filesystem::path directory;  ///< empty for a role of descendants
  std::set<std::string> known;      ///< files
  std::vector<std::unique_ptr<Image>> running;
};

HeapMeter::HeapMeter(const MeterSite& site) {
  for (const auto& [role, directory] : site.heap_directories) add_role(role, directory);
}

HeapMeter::~HeapMeter() = default;

void HeapMeter::add_role(const std::string& role, const std::filesystem::path& directory) {
  roles_.push_back(std::make_unique<Role>(Role{role, directory, {}, {}}));
  live_.add_role(role);
}

void HeapMeter::add(const std::string& role, pid_t pid) {
  auto found = std::ranges::find_if(roles_, [&](const auto& each) { return each->name == role; });
  if (found == roles_.end()) {
    if (roles_.empty()) return;  // nothing is counted in this trial
    add_role(role, {});
    found = std::prev(roles_.end());
  }
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
  std::erase_if(role.running, [](const auto& image) { return is_dead(image->page->pid); });
}

void HeapMeter::add_live_bytes(std::size_t role,
                               std::vector<std::optional<std::int64_t>>& values) const {
  for (const auto& image : roles_[role]->running) {
    const auto given = given_.find(static_cast<pid_t>(image->page->pid));
    auto& value = values[given == given_.end() ? role : given->second];
    value = value.value_or(0) + image->live();
  }
}

bool HeapMeter::sample(std::int64_t now_ns) {
  const bool look = now_ns >= look_again_ns_;
  if (look) look_again_ns_ = now_ns + kLookInterval;
  std::vector<std::optional<std::int64_t>> values(roles_.size());
  for (std::size_t at = 0; at < roles_.size(); ++at) {
    Role& role = *roles_[at];
    if (look && !role.directory.empty()) find_images(role);
    std::erase_if(role.running, [](const auto& image) { return image->finished(); });
    add_live_bytes(at, values);
  }
  return live_.add(now_ns, values);
}

}  // namespace memduel
