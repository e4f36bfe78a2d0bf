// Builds the locations, stacks and sites of a profile, each once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profilers/profile/model/profile.h"
#include "profilers/readers/number_map.h"

namespace memduel {

class StackBuilder {
 public:
  /// `profile` must outlive the builder.
  explicit StackBuilder(Profile& profile) : profile_(profile) {}

  /// A new location.
  std::uint32_t add_location(ProfileLocation location);
  /// The location with this one name, made when new.
  std::uint32_t named(FrameName name, ProfileLocation::Kind kind = ProfileLocation::Kind::native);
  /// A frame of which only the module is known (a path), or not even that (empty). One location
  /// for all of a module: an address without a symbol says nothing that survives the run, and a
  /// library that is stripped, or an unwinder that lost its way, has tens of thousands of them.
  std::uint32_t unnamed_in(std::string_view module);

  /// The stack of `location` called from `parent`. Unnamed frames of one module, one below the
  /// other, are one frame.
  std::uint32_t stack(std::uint32_t parent, std::uint32_t location);

  /// The site of a stack, made when new.
  std::uint32_t site_number(std::uint32_t stack, Heap heap = Heap::malloc);
  AllocationSite& site(std::uint32_t stack, Heap heap = Heap::malloc) {
    return profile_.sites[site_number(stack, heap)];
  }

 private:
  Profile& profile_;
  NumberMap<std::uint32_t> stacks_;
  NumberMap<std::uint32_t> sites_;
  std::unordered_map<std::string, std::uint32_t> named_;
  std::unordered_map<std::string, std::uint32_t> unnamed_;  ///< by file name
  std::vector<bool> is_unnamed_;                            ///< by location
};

}  // namespace memduel
