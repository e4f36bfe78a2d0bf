// The frames of one or more profiles merged into one tree by function, whatever their addresses.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "profilers/profile/profile.h"

namespace memduel {

struct FlameFrame {
  std::string name;
  std::string place;  ///< source file, or the module where no source is known; may be empty
  ProfileLocation::Kind kind = ProfileLocation::Kind::native;

  friend auto operator<=>(const FlameFrame&, const FlameFrame&) = default;
};

class FlameTree {
 public:
  struct Node {
    std::uint32_t parent = 0;
    std::uint32_t frame = 0;  ///< of the root: none
  };

  /// Adds the stacks of `profile` that `sites` were born at; for each stack its node.
  std::unordered_map<std::uint32_t, std::uint32_t> add(const Profile& profile);

  /// Numbers nodes and frames so that children follow their parent in the order of their names,
  /// equal trees get equal numbers, and the root is 0. The new number of each old one.
  std::vector<std::uint32_t> sort();

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<FlameFrame>& frames() const { return frames_; }

 private:
  std::uint32_t child_of(std::uint32_t parent, std::uint32_t frame);
  std::uint32_t frame_number(FlameFrame frame);
  std::vector<std::uint32_t> frames_at(const Profile& profile, const ProfileLocation& location);

  std::vector<Node> nodes_{Node{}};
  std::vector<FlameFrame> frames_;
  std::map<FlameFrame, std::uint32_t> frame_numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
};

}  // namespace memduel
