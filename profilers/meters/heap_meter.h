// Live heap bytes of processes that the recorder counts in, read from its pages while they run.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "profilers/meters/meter.h"
#include "profilers/meters/sampled_sums.h"

namespace memduel {

class HeapMeter : public Meter {
 public:
  explicit HeapMeter(const MeterSite& site);
  ~HeapMeter() override;

  /// Images are found through their files, whatever their process.
  void add(const std::string& /*role*/, pid_t /*pid*/) override {}
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
  static void find_images(Role& role);
  static std::optional<std::int64_t> live_bytes(Role& role);

  std::vector<std::unique_ptr<Role>> roles_;
  SampledSums live_{"heap_bytes"};
  std::int64_t look_again_ns_ = 0;
};

}  // namespace memduel
