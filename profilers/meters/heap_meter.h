// Live heap bytes of processes that the recorder counts in, read from its pages while they run.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profilers/meters/meter.h"
#include "profilers/meters/sampled_sums.h"

namespace memduel {

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
  /// `heap_bytes` of every role and of `tree`: sums over the images that run. What a forked child
  /// has from its parent counts once.
  [[nodiscard]] std::vector<std::pair<std::string, Series>> series() const override {
    return live_.series();
  }

 private:
  struct Image;
  struct Role;
  void add_role(const std::string& role, const std::filesystem::path& directory);
  static void find_images(Role& role);
  void add_live_bytes(std::size_t role, std::vector<std::optional<std::int64_t>>& values) const;

  std::vector<std::unique_ptr<Role>> roles_;
  std::map<pid_t, std::size_t> given_;  ///< to a role, by its index, whatever the directory
  SampledSums live_{"heap_bytes"};
  std::int64_t look_again_ns_ = 0;
};

}  // namespace memduel
