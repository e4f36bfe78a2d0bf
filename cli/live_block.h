// A few lines at the bottom of a terminal that are drawn again and again; what else is written
// scrolls above them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace memduel::cli {

/// On standard error.
class LiveBlock {
 public:
  LiveBlock() = default;
  LiveBlock(const LiveBlock&) = delete;
  LiveBlock& operator=(const LiveBlock&) = delete;
  ~LiveBlock() { erase(); }

  void draw(const std::vector<std::string>& lines);
  /// A line of its own above the block.
  void say(const std::string& line);
  /// Bytes for a descriptor of ours. Those for a terminal wait until their line is whole.
  void write(int target, std::string_view bytes);
  /// Lines that never became whole.
  void flush();
  void erase();

 private:
  void redraw() const;

  std::vector<std::string> lines_;
  std::map<int, std::string> unfinished_;  ///< by target
};

/// Columns of the terminal on standard error, at most 80; 80 where it does not say.
int live_columns();

/// All of `bytes`, or as many as a reader that goes away takes.
void write_to(int target, std::string_view bytes);

}  // namespace memduel::cli
