// Live heap and mapped bytes of processes that the recorder counts in, read from its pages while
// they run. Processes that it cannot count in have their anonymous memory from the kernel.
//
// TouchedPages: how much of a process's address ranges holds memory, from /proc/PID/pagemap. 9 ms
// for a GiB, whatever is touched of it. The file needs the permission that smaps needs: the same
// user, or root.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "meters/meter.h"
#include "util/file.h"

namespace memduel {

class TouchedPages {
 public:
  enum class Count {
    all,  ///< pages in memory or in swap
    own   ///< of these, what no other process has: a forked child's copies and new pages
  };

  explicit TouchedPages(pid_t pid);

  /// Bytes of [begin, end); 0 when the process is gone or may not be read.
  [[nodiscard]] std::int64_t bytes_in(std::uint64_t begin, std::uint64_t end, Count count) const;

 private:
  Descriptor descriptor_;
};

class HeapMeter : public Meter {
 public:
  explicit HeapMeter(const MeterSite& site);
  ~HeapMeter() override;

  /// Images are found through their files and count for the role whose directory they are in,
  /// unless their process was given to another role.
  void add(const std::string& role, pid_t pid) override;
  bool sample(std::int64_t now_ns) override;
  MeterReading read(const std::string& /*role*/) override { return {}; }
  Metrics read_costly(const std::string& /*role*/) override { return {}; }
  /// Of every role and of `all`, sums over the images that run. What a forked child has from its
  /// parent counts once.
  ///   heap_bytes             live blocks
  ///   mapped_bytes           the program's anonymous mappings, without those that have no access
  ///   heap_and_mapped_bytes  live blocks, mappings below recorder::kSparseBytes, what is touched
  ///                          of larger ones, and uncounted_bytes
  ///   uncounted_bytes        anonymous memory of processes without the recorder; absent without
  [[nodiscard]] std::vector<std::pair<std::string, Series>> series() const override;

 private:
  struct Image;
  struct Role;
  struct Uncounted;
  using Values = std::vector<std::optional<std::int64_t>>;
  void add_role(const std::string& role, const std::filesystem::path& directory);
  static void find_images(Role& role);
  [[nodiscard]] std::size_t role_of(pid_t pid, std::size_t otherwise) const;
  void add_images(std::int64_t now_ns, Values& live, Values& mapped, Values& together);
  void add_uncounted(std::int64_t now_ns, Values& uncounted, Values& together);

  std::set<std::string> left_out_;
  std::vector<std::unique_ptr<Role>> roles_;
  std::map<pid_t, std::size_t> given_;  ///< to a role, by its index, whatever the directory
  std::vector<std::unique_ptr<Uncounted>> uncounted_;
  SampledSums live_{"heap_bytes"};
  SampledSums mapped_{"mapped_bytes"};
  SampledSums together_{"heap_and_mapped_bytes"};
  SampledSums uncounted_bytes_{"uncounted_bytes"};
  std::int64_t look_again_ns_ = 0;
};

}  // namespace memduel
