// The frames of one or more profiles merged into one tree by function, whatever their addresses,
// and wherever a program was built.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "names/stack_names.h"
#include "profile/profile.h"

namespace memduel {

/// A function of a module. The module of the program itself is empty, so that two programs of other
/// names compare; a Python function's is its file's name.
struct FlameFrame {
  std::string name;
  std::string module;
  ProfileLocation::Kind kind = ProfileLocation::Kind::native;

  friend auto operator<=>(const FlameFrame&, const FlameFrame&) = default;
};

class FlameTree {
 public:
  struct Node {
    std::uint32_t parent = 0;
    std::uint32_t frame = 0;  ///< of the root: none
  };

  /// Adds the stacks of `profile` that `sites` were born at; for each stack its node. Functions
  /// that are renamed get the names that they stand for.
  std::unordered_map<std::uint32_t, std::uint32_t> add(const Profile& profile,
                                                       const RenamedFunctions& renamed = {});

  /// Numbers nodes and frames so that children follow their parent in the order of their names,
  /// equal trees get equal numbers, and the root is 0. The new number of each old one.
  std::vector<std::uint32_t> sort();

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<FlameFrame>& frames() const { return frames_; }
  /// Of each frame the source file, else the library, as the first profile that knows has it.
  [[nodiscard]] const std::vector<std::string>& places() const { return places_; }
  /// Of each frame whether it is one that every program has (see is_everybodys()).
  [[nodiscard]] const std::vector<bool>& everybodys() const { return everybodys_; }

 private:
  std::uint32_t child_of(std::uint32_t parent, std::uint32_t frame);
  std::uint32_t frame_number(FlameFrame frame, const std::string& place, bool everybodys);
  std::vector<std::uint32_t> frames_at(const Profile& profile, const ProfileLocation& location,
                                       const RenamedFunctions& renamed);

  std::vector<Node> nodes_{Node{}};
  std::vector<FlameFrame> frames_;
  std::vector<std::string> places_;
  std::vector<bool> everybodys_;
  std::map<FlameFrame, std::uint32_t> frame_numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
};

}  // namespace memduel
