#include "profilers/profile/capture/image_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/atomic_file.h"
#include "base/file.h"
#include "profilers/profile/decode/trace_file.h"

namespace memduel {
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
    notes.push_back(fmt::format("{} later images have no profile: {} is no place for a second",
                                without_file_, output_->string()));
  if (!replaced_.empty()) notes.push_back("replaced " + listed(replaced_));
  if (!first_ || written_ == 0 || is_written_through(*first_)) return notes;
  if (const auto removed = remove_earlier(*first_); !removed.empty())
    notes.push_back(fmt::format("removed {}, of an earlier recording", listed(removed)));
  if (many_) {
    write_file_atomically(images_folder(*first_) / kIndex, index_of(images));
    notes.push_back(fmt::format("the later images are in {}, told in its {}",
                                images_folder(*first_).string(), kIndex));
  }
  return notes;
}

}  // namespace memduel
