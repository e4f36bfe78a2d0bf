// The stacks of a trace while it is replayed: modules, code objects, and the nodes of the tree that
// they form.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "profile/recorded_files.h"

namespace memduel {

/// Fills a profile's modules, locations and stacks. What makes no sense throws std::out_of_range.
class TraceStacks {
 public:
  /// `profile` must outlive this, and stay where it is.
  explicit TraceStacks(Profile& profile) : profile_(profile) {}

  void add_module(const recorder::events::Module& event);
  void add_node(const recorder::events::Node& event);
  void add_code(const recorder::events::Code<>& event);
  void add_python(const recorder::events::Python& event);
  /// Per location: module, address, then its names. Locations that the trace does not have are
  /// skipped.
  void read_symbols(TraceCursor& cursor);

  /// The number of nodes that the recorder had by now: where a block before is missing, and with it
  /// nodes, something lost stands for each of these.
  void expect(std::uint64_t nodes);
  /// The node of that number, which must be there.
  [[nodiscard]] std::uint32_t known(std::uint64_t node) const;
  [[nodiscard]] std::int64_t lost() const { return lost_; }

 private:
  struct NumberHash {
    std::size_t operator()(std::uint64_t number) const {
      const std::uint64_t product = number * 0x9e3779b97f4a7c15;  // 2^64 / the golden ratio
      return product ^ (product >> 32U);
    }
  };
  struct PlaceHash {
    std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& place) const {
      return NumberHash()(place.second ^ (place.first << 48U));
    }
  };

  /// The recorder's next node.
  void add(std::uint32_t parent, std::uint32_t location);
  std::uint32_t native_location(std::uint64_t ip);

  Profile& profile_;
  /// Of each node of the recorder's. It makes new nodes for the stacks in use when it has too many.
  std::vector<std::uint32_t> stack_of_node_{0};
  tsl::robin_map<std::uint64_t, std::uint32_t, NumberHash> stacks_;  ///< by parent and location
  /// By module (number + 1, 0 for none) and address.
  tsl::robin_map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t, PlaceHash> locations_;
  std::map<std::uint64_t, std::size_t> modules_by_begin_;
  std::vector<std::pair<std::string, std::string>> codes_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> python_locations_;
  std::uint64_t last_ip_ = 0;
  std::int64_t lost_ = 0;
};

}  // namespace memduel
