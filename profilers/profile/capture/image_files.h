// Where the verb `record` puts the profiles of a recording: the first image's file, which the user
// may name, and the later ones beside it or, where they are many, in a folder with an index.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profilers/profile/capture/heap_counters.h"
#include "profilers/profile/capture/recorded_images.h"

namespace memduel {

/// A recording of more images than this has its later ones in a folder.
inline constexpr std::size_t kMostBeside = 8;

class ImageFiles {
 public:
  /// `output` is the first image's file; absent: NAME.PID.mdp in the current directory.
  ImageFiles(std::optional<std::filesystem::path> output, std::string name);

  /// Where the recorder may leave what is not finished.
  [[nodiscard]] std::filesystem::path workplace() const;

  /// FILE.mdp for the first of `plan`'s images; FILE.2.mdp, or FILE.images/2.mdp, for the second.
  [[nodiscard]] std::filesystem::path file_of(const ImagePlan& plan, std::size_t number) const;

  /// Writes the profile of an image; absent where a device or a pipe has no place for a second.
  std::optional<std::filesystem::path> keep(const ImagePlan& plan, std::size_t number,
                                            std::string_view bytes);

  /// Writes the index and removes what an earlier recording left beside the first file; says what
  /// was replaced and what is gone.
  std::vector<std::string> finish(const std::vector<RecordedImage>& images);

 private:
  [[nodiscard]] std::filesystem::path first_of(const ImagePlan& plan) const;
  [[nodiscard]] std::vector<std::string> remove_earlier(const std::filesystem::path& first) const;

  std::optional<std::filesystem::path> output_;
  std::string name_;
  std::vector<std::string> replaced_;
  std::optional<std::filesystem::path> first_;
  std::size_t written_ = 0;
  std::size_t without_file_ = 0;
  bool many_ = false;
};

/// FILE.images for FILE.mdp.
std::filesystem::path images_folder(const std::filesystem::path& first);

/// Where the image `number` of a recording is whose first image is in `first`; absent if its file
/// is not there.
std::optional<std::filesystem::path> file_of_image(const std::filesystem::path& first,
                                                   std::size_t number);

}  // namespace memduel
