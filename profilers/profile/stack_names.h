// Stacks as the names of their functions: what stays the same when a program is built again.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "profilers/profile/profile.h"

namespace memduel {

/// A number for each name, common to several profiles.
class FunctionNames {
 public:
  std::uint32_t number_of(const std::string& name);
  [[nodiscard]] const std::string& name(std::uint32_t number) const { return names_[number]; }
  /// Whether the name is a function's; else it stands for a library without names.
  [[nodiscard]] bool is_function(std::uint32_t number) const;

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

/// The functions of a stack, outermost first.
using NamedStack = std::vector<std::uint32_t>;

/// A function's name without what the compiler made of it: `f(int) [clone .isra.0]` is `f(int)`.
std::string without_clone(const std::string& function);

/// Names the stacks of one profile: no addresses, no lines, one frame where a function calls
/// itself. Frames without a name are `[library.so]`, in the program itself `[program]`; Python
/// functions have their file's name, `fit (trainer.py)`.
class StackNames {
 public:
  /// Both must outlive this.
  StackNames(const Profile& profile, FunctionNames& names);

  /// Of its `depth` innermost places.
  [[nodiscard]] NamedStack of(std::uint32_t stack,
                              std::size_t depth = std::numeric_limits<std::size_t>::max()) const;

  /// Every function of the profile's stacks, sorted.
  [[nodiscard]] std::vector<std::uint32_t> functions() const;

 private:
  const Profile& profile_;
  std::vector<NamedStack> of_location_;  ///< innermost first
};

}  // namespace memduel
