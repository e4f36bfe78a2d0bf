// Stacks as the names of their functions: what stays the same when a program is built again, and
// which stack of one build is which stack of the other (match_stacks). RenamedFunctions are those
// that another revision has under another name: a library puts its version into a namespace
// (nlohmann::json_abi_v3_11_2, fmt::v9), a template gets another argument, a function another
// parameter.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "source_lines.h"

namespace memduel {

/// `fmt::v9::print(int)` is `fmt::print(int)`. Namespaces that are named `v9`, `x_v3_11_2`,
/// `lts_20220623` or `icu_72` are versions.
std::string without_versions(const std::string& function);

/// The candidate's names, each with the baseline's that it stands for.
using RenamedFunctions = std::map<std::string, std::string>;

/// Of functions that one side alone has: pairs that differ in versions alone, then those that
/// differ in template arguments too, then those with the same short_name(), where that leaves each
/// side one.
RenamedFunctions renamed_functions(const std::set<std::string>& baseline,
                                   const std::set<std::string>& candidate);

/// For people: how many.
std::string describe(const RenamedFunctions& renamed);

/// The compiled functions of a profile's stacks, without_clone(); not what stands for a library.
std::set<std::string> compiled_functions(const Profile& profile);

/// What stands for a frame without a name.
enum class Nameless {
  library,  ///< `[libfoo.so]`, of the program itself `[program]`: what another tool says of it
  offset    ///< `libfoo.so+0x1234`, the place in its file, which is one in equal builds only
};

/// A number for each name, common to several profiles.
class FunctionNames {
 public:
  explicit FunctionNames(Nameless nameless = Nameless::offset) : nameless_(nameless) {}

  /// Names that differ in `build` alone are not one.
  std::uint32_t number_of(const std::string& name, const std::string& build = {});
  /// From here on a name is taken for the one that it stands for.
  void take(RenamedFunctions renamed) { renamed_ = std::move(renamed); }
  /// Whether another name was taken for it.
  [[nodiscard]] bool was_taken(std::uint32_t number) const { return taken_.contains(number); }
  [[nodiscard]] const std::string& name(std::uint32_t number) const { return names_[number]; }
  /// Whether the name is a function's or a place's; else it stands for a library without names.
  [[nodiscard]] bool is_function(std::uint32_t number) const;
  [[nodiscard]] Nameless nameless() const { return nameless_; }

 private:
  Nameless nameless_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  ///< by name, NUL and build
  std::vector<std::string> names_;
  RenamedFunctions renamed_;
  std::set<std::uint32_t> taken_;
};

/// The functions of a stack, outermost first.
using NamedStack = std::vector<std::uint32_t>;

/// A function's name without what the compiler made of it: `f(int) [clone .isra.0]` is `f(int)`.
std::string without_clone(const std::string& function);

/// The file's name of the library that a place lies in, without its version: `libfoo.so` of
/// `libfoo.so.1.2`. Empty for the program itself, and where nothing is known.
std::string library_of(const Profile& profile, const ProfileLocation& location);

/// Names the stacks of one profile: no addresses, no lines, one frame where a function calls
/// itself. Frames without a name are what `FunctionNames::nameless` says; Python functions have
/// their file's name, `fit (trainer.py)`.
class StackNames {
 public:
  /// Both must outlive this.
  StackNames(const Profile& profile, FunctionNames& names);

  /// Of its `depth` innermost places.
  [[nodiscard]] NamedStack of(std::uint32_t stack,
                              std::size_t depth = std::numeric_limits<std::size_t>::max()) const;

  /// Where the stack's innermost frame of a function is.
  [[nodiscard]] SourceLine line_of(std::uint32_t stack, std::uint32_t function) const;

  /// Every function of the profile's stacks, sorted.
  [[nodiscard]] std::vector<std::uint32_t> functions() const;

 private:
  const Profile& profile_;
  std::vector<NamedStack> of_location_;  ///< innermost first
};

/// A stack of a profile, with its addresses and lines, and what it has.
struct StackSource {
  const StackNames* names = nullptr;
  std::uint32_t stack = 0;
  double amount = 0;
};

/// What one side has at a stack.
struct StackAmount {
  Estimate total;
  std::map<std::string, Estimate> by_phase;  ///< of birth
  std::vector<StackSource> sources;          ///< what was added up

  StackAmount& operator+=(const StackAmount& other);
};

using StackAmounts = std::map<NamedStack, StackAmount>;

struct MatchedStack {
  NamedStack stack;  ///< the fullest of those that were put together
  StackAmount baseline;
  StackAmount candidate;
  bool in_baseline = false;
  bool in_candidate = false;
  bool guessed = false;  ///< they are not equal, only alike
  /// The baseline's stacks that were put together.
  std::vector<NamedStack> of_baseline = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// One side: its amounts and every function that its names know, sorted.
struct NamedSide {
  StackAmounts amounts;
  std::vector<std::uint32_t> functions;
};

std::vector<MatchedStack> match_stacks(const NamedSide& baseline, const NamedSide& candidate);

}  // namespace memduel
