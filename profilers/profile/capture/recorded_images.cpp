#include "profilers/profile/capture/recorded_images.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "profilers/profile/capture/finish_profile.h"

namespace memduel {
namespace {

std::string end_of(const HeapCounters& image) {
  if (image.finished) return "the program's own";
  return image.still_runs()
             ? "not yet: it went on in the background, which is not in here"
             : "abruptly, by a signal or exit_group: the stacks of its last moment are lost";
}

/// The page outlives the program, whatever ended it, and misses nothing of what the trace lost.
std::optional<HeapTotals> last_counters(const HeapCounters& image) {
  if (image.finished && image.lost == 0) return std::nullopt;
  return image;
}

std::filesystem::path raw_profile(const std::filesystem::path& directory,
                                  const HeapCounters& image) {
  return directory / fmt::format("{}-{}.mdp", image.started_ns, image.pid);
}

/// Those that left a profile: in count mode none does.
std::vector<const HeapCounters*> with_profiles(const HeapImages& left,
                                               const std::filesystem::path& directory) {
  std::vector<const HeapCounters*> images;
  for (const HeapCounters& image : left.images)
    if (std::filesystem::exists(raw_profile(directory, image))) images.push_back(&image);
  return images;
}

ImagePlan plan_of(const std::vector<const HeapCounters*>& images) {
  ImagePlan plan;
  if (images.empty()) return plan;
  for (const HeapCounters* image : images) plan.pids.push_back(image->pid);
  const auto largest = std::ranges::max_element(images, {}, &HeapCounters::size_bytes);
  plan.largest = static_cast<std::size_t>(largest - images.begin()) + 1;
  return plan;
}

std::map<std::string, std::string> info_of(const HeapCounters& image) {
  std::map<std::string, std::string> info = {
      {"end", end_of(image)}, {kTogetherPeakFact, std::to_string(image.together_peak_bytes)}};
  if (image.has_sparse) info[kTogetherSampledFact] = "yes";
  if (image.ended_ns > 0) info["ended_ns"] = std::to_string(image.ended_ns);
  if (image.forked) {
    info["inherited_bytes"] = std::to_string(image.inherited_bytes);
    info["inherited_mapping_bytes"] = std::to_string(image.inherited_mapping_bytes);
  }
  if (image.uncertainty_bytes() > 0)
    info["counters_within"] = format_bytes(static_cast<double>(image.uncertainty_bytes()));
  return info;
}

}  // namespace

RecordedImages finish_images(const std::filesystem::path& directory, const KeepImages& keep,
                             const SymbolOptions& symbols) {
  HeapImages left = read_heap_directory(directory);
  const std::vector<const HeapCounters*> profiled = with_profiles(left, directory);
  const ImagePlan plan = plan_of(profiled);
  RecordedImages recorded;
  recorded.unreadable = std::move(left.unreadable);
  for (const HeapCounters& image : left.images) {
    recorded.images.push_back({std::nullopt, image});
    const auto place = std::ranges::find(profiled, &image);
    if (place == profiled.end()) continue;
    const std::size_t number = static_cast<std::size_t>(place - profiled.begin()) + 1;
    std::map<std::string, std::string> info = info_of(image);
    if (plan.count() > 1) {
      const HeapCounters& largest = *profiled[plan.largest - 1];
      info["image"] = fmt::format("{} of {}", number, plan.count());
      const auto file =
          keep.file_of(plan, plan.largest).lexically_relative(keep.file_of(plan, 1).parent_path());
      info["largest_image"] =
          fmt::format("{}: {}, {} {}", file.string(), largest.program,
                      format_bytes(static_cast<double>(largest.size_bytes())), kLargestBy);
      info["largest_image_number"] = std::to_string(plan.largest);
    }
    FinishedProfile finished;
    const std::filesystem::path raw = raw_profile(directory, image);
    try {
      finished = finish_profile(read_file(raw), raw.string(), symbols, info, last_counters(image));
    } catch (const Error& error) {
      recorded.unreadable.push_back(error.message());
      continue;
    }
    recorded.images.back().file = keep.keep(plan, number, finished.bytes);
    recorded.images.back().has_snapshot = finished.profile.resident.has_value();
    recorded.images.back().peak_resident_bytes = peak_resident_bytes(finished.profile);
  }
  return recorded;
}

}  // namespace memduel
