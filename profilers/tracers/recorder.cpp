// memduel's own recorder as a tracer.
#include "base/file.h"
#include "base/profile_name.h"
#include "profilers/profile/capture/preload.h"
#include "profilers/profile/capture/recorded_images.h"
#include "profilers/tracers/backends.h"
#include "profilers/tracers/preloaded.h"

namespace memduel {
namespace {

/// The least that a snapshot holds of the trial's own peak, in percent.
constexpr int kSnapshotPercent = 97;
/// Below this share of the known peak snapshots are rare: a trial's peak may be lower than others.
constexpr double kLeastOfPeak = 0.8;

class Recorder : public Tracer {
 public:
  [[nodiscard]] EnvironmentVariables variables(const std::filesystem::path& directory,
                                               const EnvironmentVariables& environment,
                                               const TracerOptions& options) const override {
    Preload preload;
    preload.mode = options.every_allocation ? RecordMode::exact : RecordMode::sampled;
    preload.interval_bytes = options.interval_bytes;
    preload.snapshot = snapshot_at_peak(kSnapshotPercent, kLeastOfPeak * options.known_peak_bytes);
    return recording_environment(preload, directory, value_in(environment, "LD_PRELOAD"));
  }

  [[nodiscard]] KeptProfiles keep(const std::filesystem::path& directory,
                                  const ProfileNaming& file_of) const override {
    KeptProfiles kept;
    const auto image_file = [&](const ImagePlan& plan, std::size_t number) {
      return file_of({number, plan.pids[number - 1], std::nullopt});
    };
    const auto keep_image = [&](const ImagePlan& plan, std::size_t number, std::string_view bytes) {
      const std::filesystem::path file = image_file(plan, number);
      kept.files.push_back({{number, plan.pids[number - 1], std::nullopt}, file});
      write_file_atomically(file, bytes);
      return std::optional(file);
    };
    RecordedImages recorded =
        finish_images(directory, {image_file, keep_image}, {default_symbol_cache(), false});
    kept.missing = std::move(recorded.unreadable);
    return kept;
  }
};

}  // namespace

std::unique_ptr<Tracer> make_recorder() {
  return std::make_unique<Recorder>();
}

}  // namespace memduel
