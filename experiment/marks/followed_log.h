// A log that is read while it is written: appended to, cut short, or renamed and made anew.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "base/descriptor.h"
#include "experiment/marks/text_lines.h"

namespace memduel {

class FollowedLog {
 public:
  /// What `path` holds by now is not of this trial and is passed over; the file need not exist.
  /// @param inotify reports when the file changes; -1: nothing does.
  FollowedLog(std::filesystem::path path, int inotify);
  FollowedLog(FollowedLog&&) = default;
  FollowedLog& operator=(FollowedLog&&) = default;
  FollowedLog(const FollowedLog&) = delete;
  FollowedLog& operator=(const FollowedLog&) = delete;
  ~FollowedLog() = default;

  /// Lines that were finished since the last call, out of at most about `max_bytes`. Returns
  /// whether there is more to read at once.
  bool read(const TextLines::Take& take, std::size_t max_bytes);
  /// Reads what is there to its end; an unfinished last line is a line.
  void finish(const TextLines::Take& take);

  /// The file was there at some time.
  [[nodiscard]] bool was_seen() const { return was_seen_; }
  /// Changes are reported: the file is open and watched, and still the one at its path.
  [[nodiscard]] bool is_watched() const { return watch_ >= 0 && !was_replaced_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::int64_t lines() const { return lines_.count(); }

 private:
  bool open_file();
  [[nodiscard]] bool is_replaced() const;
  void restart_if_cut();
  bool read_to_end(const TextLines::Take& take, std::size_t& budget);

  std::filesystem::path path_;
  int inotify_;
  int watch_ = -1;
  Descriptor file_;
  off_t offset_ = 0;
  bool was_seen_ = false;
  bool was_replaced_ = false;
  TextLines lines_;
};

}  // namespace memduel
