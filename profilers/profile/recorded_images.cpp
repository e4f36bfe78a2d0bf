#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "profile/function_names.h"
#include "profile/recorded_files.h"
#include "trace_follower.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel {

namespace {

std::string symbols_of(const Profile& profile) {
  std::string bytes;
  for (const ProfileLocation& location : profile.locations) {
    if (location.kind != ProfileLocation::Kind::native || location.names.empty()) continue;
    put_varint(bytes, location.module ? *location.module + 1 : 0);
    put_varint(bytes, location.address);
    put_names(bytes, location.names);
  }
  return bytes;
}

/// An events block of nothing else: the time, which nobody reads, and the next node are 0.
std::string block_of(const HeapTotals& totals) {
  const auto count = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
  std::string bytes;
  put_record(bytes,
             recorder::events::Counters{0, 0, totals.live_bytes, count(totals.peak_bytes),
                                        count(totals.allocated_bytes), count(totals.allocations),
                                        totals.mapping_bytes, count(totals.mapping_peak_bytes),
                                        count(totals.lost), count(totals.threads)});
  return bytes;
}

}  // namespace

ProfileFinisher::ProfileFinisher(std::string name, LastSnapshot last_snapshot)
    : reader_(std::move(name)), last_snapshot_(last_snapshot), replay_(last_snapshot) {}

std::size_t ProfileFinisher::take(std::string_view bytes) {
  return reader_.take(bytes, [&](const TraceBlock& block) {
    replay_.take(block);
    const bool of_snapshot =
        block.type == recorder::BlockType::pages || block.type == recorder::BlockType::snapshot;
    const bool is_renewed =
        block.type == recorder::BlockType::symbols || block.type == recorder::BlockType::index;
    if (!is_renewed && (!of_snapshot || last_snapshot_.has(block.type)))
      writer_.add(block.type, block.bytes);
  });
}

FinishedProfile ProfileFinisher::finish(std::string_view left, const SymbolOptions& options,
                                        const std::map<std::string, std::string>& more_info,
                                        const std::optional<HeapTotals>& last) {
  left.remove_prefix(take(left));
  const TraceReading reading = reader_.finish(left);
  FinishedProfile finished;
  finished.profile = replay_.finish(reading);
  symbolize(finished.profile, options);
  if (last) {
    finished.profile.counters = last;
    writer_.add(recorder::BlockType::events, block_of(*last));
  }
  std::string info;
  for (const auto& [key, value] : more_info) {
    finished.profile.info[key] = value;
    info += key + " " + value + "\n";
  }
  // The new file is whole: only this line remembers what the old one had lost.
  if (const std::string loss = loss_of(reading); !loss.empty()) info += "loss " + loss + "\n";
  if (!info.empty()) writer_.add(recorder::BlockType::info, info);
  writer_.add(recorder::BlockType::symbols, symbols_of(finished.profile));
  finished.bytes = writer_.finish();
  return finished;
}

FinishedProfile finish_profile(std::string_view recorded, const std::string& name,
                               const SymbolOptions& options,
                               const std::map<std::string, std::string>& more_info,
                               const std::optional<HeapTotals>& last) {
  return ProfileFinisher(name, LastSnapshot(recorded)).finish(recorded, options, more_info, last);
}

namespace {

std::string end_of(const HeapCounters& image) {
  if (image.finished) return "normal exit";
  return image.still_runs() ? "still running: it went on in the background, which is not recorded"
                            : "abruptly, by a signal or exit_group";
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

/// Of a process that did not end by itself, with the block that its recorder was filling. The block
/// may be in the file already, whole or in part.
std::string recorded_bytes(const std::filesystem::path& raw, const HeapCounters& image) {
  std::string bytes = read_file(raw);
  std::filesystem::path file = raw;
  file.replace_extension(".block");
  if (image.finished || image.still_runs() || !std::filesystem::exists(file)) return bytes;
  const std::string left = read_file(file);
  if (left.size() < sizeof(recorder::RunningBlock)) return bytes;
  auto block = std::make_unique<recorder::RunningBlock>();
  std::memcpy(block.get(), left.data(), sizeof *block);
  if (block->header.type != recorder::BlockType::events || block->used > sizeof block->bytes ||
      block->offset > bytes.size())
    return bytes;
  bytes.resize(block->offset);
  const auto size = static_cast<std::uint32_t>(block->used);
  block->header = {recorder::BlockType::events, 0, size, size, 0};
  block->header.crc32c = recorder::block_checksum(block->header, block->bytes);
  bytes.append(reinterpret_cast<const char*>(block.get()), sizeof block->header + size);
  return bytes;
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
                             const SymbolOptions& symbols, TraceFollower* follower) {
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
      const std::string bytes = recorded_bytes(raw, image);
      FollowedTrace trace = follower == nullptr ? FollowedTrace{} : follower->release(raw);
      // On a full disk the recorder may write a block again where a part of one was read.
      if (!trace.finisher || trace.taken > bytes.size() || trace.finisher->found_damage())
        trace = {std::make_unique<ProfileFinisher>(raw.string(), LastSnapshot(bytes)), 0};
      finished = trace.finisher->finish(std::string_view(bytes).substr(trace.taken), symbols, info,
                                        last_counters(image));
    } catch (const Error& error) {
      recorded.unreadable.push_back(error.message());
      continue;
    }
    recorded.images.back().file = keep.keep(plan, number, finished.bytes);
    if (finished.profile.resident)
      recorded.images.back().snapshot_bytes = finished.profile.resident->program_bytes();
    recorded.images.back().peak_resident_bytes = peak_resident_bytes(finished.profile);
  }
  return recorded;
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kIndex = "index.tsv";

fs::path beside(const fs::path& first, std::size_t number) {
  fs::path later = first;
  later.replace_extension(fmt::format(".{}{}", number, first.extension().string()));
  return later;
}

fs::path inside(const fs::path& first, std::size_t number) {
  return images_folder(first) / fmt::format("{}{}", number, first.extension().string());
}

/// Not where a file or a symlink of somebody's has the folder's name.
bool goes_into_folder(const ImagePlan& plan, const fs::path& first) {
  const fs::path folder = images_folder(first);
  const fs::file_type found = fs::symlink_status(folder).type();
  return plan.count() > kMostBeside && folder != first &&
         (found == fs::file_type::not_found || found == fs::file_type::directory);
}

std::string listed(const std::vector<std::string>& files) {
  if (files.size() <= kMostBeside) return fmt::format("{}", fmt::join(files, ", "));
  return fmt::format("{} and {} more", files.front(), files.size() - 1);
}

std::string index_of(const std::vector<RecordedImage>& images) {
  std::string text =
      "file\tpid\tparent_pid\tprogram\tpeak_heap_bytes\tmapping_peak_bytes\t"
      "heap_and_mapped_peak_bytes\tallocated_bytes\tallocation_count\tended\n";
  for (const RecordedImage& image : images) {
    const HeapCounters& counters = image.counters;
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
                        image.file ? image.file->filename().string() : "", counters.pid,
                        counters.parent_pid, counters.program, counters.peak_bytes,
                        counters.mapping_peak_bytes, counters.together_peak_bytes,
                        counters.allocated_bytes, counters.allocations,
                        counters.finished       ? "by itself"
                        : counters.still_runs() ? "not yet"
                                                : "abruptly");
  }
  return text;
}

}  // namespace

fs::path images_folder(const fs::path& first) {
  fs::path folder = first;
  return folder.replace_extension(".images");
}

std::optional<fs::path> file_of_image(const fs::path& first, std::size_t number) {
  if (number == 1) return first;
  for (const fs::path& file : {inside(first, number), beside(first, number)})
    if (is_trace_file(file)) return file;
  return std::nullopt;
}

ImageFiles::ImageFiles(std::optional<fs::path> output, std::string name)
    : output_(std::move(output)), name_(std::move(name)) {}

fs::path ImageFiles::workplace() const {
  if (!output_) return ".";
  if (is_written_through(*output_)) return fs::temp_directory_path();
  return output_->has_parent_path() ? output_->parent_path() : ".";
}

fs::path ImageFiles::first_of(const ImagePlan& plan) const {
  return output_.value_or(fmt::format("{}.{}.mdp", name_, plan.pids.front()));
}

fs::path ImageFiles::file_of(const ImagePlan& plan, std::size_t number) const {
  fs::path first = first_of(plan);
  if (number == 1) return first;
  return goes_into_folder(plan, first) ? inside(first, number) : beside(first, number);
}

std::optional<fs::path> ImageFiles::keep(const ImagePlan& plan, std::size_t number,
                                         std::string_view bytes) {
  first_ = first_of(plan);
  if (number > 1 && is_written_through(*first_)) {
    ++without_file_;
    return std::nullopt;
  }
  many_ = goes_into_folder(plan, *first_);
  fs::path file = file_of(plan, number);
  if (number > 1 && many_) fs::create_directories(file.parent_path());
  if (fs::is_regular_file(file)) replaced_.push_back(file.string());
  // Only the first has the name that the user gave: no link leads the others elsewhere.
  number == 1 ? write_named_file(file, bytes) : write_file_atomically(file, bytes);
  written_ = number;
  return file;
}

std::vector<std::string> ImageFiles::remove_earlier(const fs::path& first) const {
  std::vector<std::string> removed;
  const auto remove_from = [&](std::size_t number, auto file_of_number) {
    for (;; ++number) {
      const fs::path file = file_of_number(first, number);
      if (!is_trace_file(file)) return;
      fs::remove(file);
      removed.push_back(file.string());
    }
  };
  remove_from(many_ ? 2 : written_ + 1, beside);
  const fs::path folder = images_folder(first);
  if (fs::symlink_status(folder).type() != fs::file_type::directory) return removed;
  remove_from(many_ ? written_ + 1 : 2, inside);
  if (!many_ && fs::exists(folder / kIndex)) {
    fs::remove(folder / kIndex);
    std::error_code not_empty;
    fs::remove(folder, not_empty);
  }
  return removed;
}

std::vector<std::string> ImageFiles::finish(const std::vector<RecordedImage>& images) {
  std::vector<std::string> notes;
  if (without_file_ > 0)
    notes.push_back(fmt::format("{} later processes have no profile: {} takes only one",
                                without_file_, output_->string()));
  if (!replaced_.empty()) notes.push_back("replaced " + listed(replaced_));
  if (!first_ || written_ == 0 || is_written_through(*first_)) return notes;
  if (const auto removed = remove_earlier(*first_); !removed.empty())
    notes.push_back(fmt::format("removed {} of an earlier recording", listed(removed)));
  if (many_) {
    write_file_atomically(images_folder(*first_) / kIndex, index_of(images));
    notes.push_back(fmt::format("the later processes are in {}, listed in its {}",
                                images_folder(*first_).string(), kIndex));
  }
  return notes;
}

}  // namespace memduel
