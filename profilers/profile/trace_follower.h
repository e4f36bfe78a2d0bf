// Replays traces while the programs that write them still run.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "profile/recorded_files.h"

namespace memduel {

/// The work that is done on a file.
struct FollowedTrace {
  std::unique_ptr<ProfileFinisher> finisher;  ///< null: none
  std::size_t taken = 0;                      ///< bytes of the file
};

/// Follows the large traces of a directory in a thread of its own with a low priority, so that
/// little is left to do when a recording ends. Small ones, and those that cannot be read, are left
/// out. Files with snapshots must not be followed: which one is the last is known at the end.
class TraceFollower {
 public:
  explicit TraceFollower(std::filesystem::path directory);
  ~TraceFollower();
  TraceFollower(const TraceFollower&) = delete;
  TraceFollower& operator=(const TraceFollower&) = delete;

  /// Ends the thread.
  void stop();
  /// The work on `file`, once; after stop().
  FollowedTrace release(const std::filesystem::path& file);

 private:
  void run();
  void look();
  void follow(const std::filesystem::path& file, std::uintmax_t size);

  std::filesystem::path directory_;
  std::map<std::filesystem::path, FollowedTrace> traces_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::uintmax_t followed_bytes_ = 0;
  std::thread thread_;
};

}  // namespace memduel
