#include "experiment/builds/worktree_arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

bool leaves(const fs::path& path) {
  return path.is_absolute() || (!path.empty() && *path.begin() == "..");
}

/// The path in a word such as --input=FILE, else the word itself.
std::string path_in(const std::string& word) {
  const std::size_t sign = word.find('=');
  return word.starts_with("-") && sign != std::string::npos ? word.substr(sign + 1) : word;
}

/// A word that is the name of a folder by chance, as a subcommand may be, is not meant as one.
bool names_file(const fs::path& here, const std::string& path) {
  std::error_code unreadable;
  if (path.empty() || fs::path(path).is_absolute()) return false;
  return fs::is_regular_file(here / path, unreadable) ||
         (path.find('/') != std::string::npos && fs::exists(here / path, unreadable));
}

/// A file or folder, both from the root.
bool lies_below(const fs::path& file, const fs::path& folder) {
  const fs::path rest = file.lexically_relative(folder);
  return !rest.empty() && !leaves(rest);
}

/// Of one word that is a file here.
class WordCheck {
 public:
  WordCheck(const WorktreeArguments& arguments, const WorktreePlan& plan, std::string path)
      : arguments_(arguments),
        plan_(plan),
        path_(std::move(path)),
        target_((arguments.folder / path_).lexically_normal()) {}

  void expect_reachable() const {
    if (leaves(target_)) return expect_outside();
    const bool in_a = is_in(plan_.baseline);
    const bool in_b = is_in(plan_.candidate);
    if ((in_a && in_b) || may_be_built()) return;
    const Revision& lacking = in_b ? plan_.baseline : plan_.candidate;
    refuse(fmt::format("the revision {} does not have", describe_revision(lacking)),
           in_b ? fmt::format("--keep {} gives it to both; or write {}", target_.string(), here())
                : advice());
  }

 private:
  /// Out of the worktree, whose folder is not there yet.
  void expect_outside() const {
    std::error_code unreadable;
    if (!fs::exists((plan_.folder / "a" / target_).lexically_normal(), unreadable))
      refuse("no worktree of a revision can reach", advice());
  }

  [[nodiscard]] bool is_kept() const {
    return std::ranges::any_of(plan_.kept, [&](const std::string& path) {
      return lies_below(target_, fs::path(path).lexically_normal());
    });
  }

  [[nodiscard]] bool is_in(const Revision& revision) const {
    const bool from_candidate = &revision == &plan_.baseline && is_kept();
    return is_tracked(plan_.root, from_candidate ? plan_.candidate : revision, target_);
  }

  /// What git ignores at this place, and what lies in a submodule, is the build's business.
  [[nodiscard]] bool may_be_built() const {
    std::error_code unreadable;
    return fs::exists(plan_.root / target_, unreadable) && !is_of_the_checkout(plan_.root, target_);
  }

  [[nodiscard]] std::string here() const {
    return (arguments_.here / path_).lexically_normal().string();
  }

  /// A file that both have at another place is better than one for both.
  [[nodiscard]] std::string advice() const {
    const fs::path own = fs::path(here()).lexically_relative(plan_.root);
    const bool both = !own.empty() && !leaves(own) && is_tracked(plan_.root, plan_.baseline, own) &&
                      is_tracked(plan_.root, plan_.candidate, own);
    return "write " + (both ? own.lexically_relative(arguments_.folder.empty() ? fs::path(".")
                                                                               : arguments_.folder)
                                  .string()
                            : here());
  }

  [[noreturn]] void refuse(const std::string& who_lacks, const std::string& advice) const {
    const std::string where = arguments_.folder.empty() || arguments_.folder == "."
                                  ? std::string("the root")
                                  : "the folder " + arguments_.folder.string();
    throw Error(ExitCode::usage, fmt::format("found the file \"{}\", which {}", path_, who_lacks),
                arguments_.place,
                fmt::format("the program starts in {} of its own worktree: {}", where, advice));
  }

  const WorktreeArguments& arguments_;
  const WorktreePlan& plan_;
  std::string path_;
  fs::path target_;  ///< from the root of the worktree
};

}  // namespace

void refuse_unreachable(const WorktreeArguments& arguments, const WorktreePlan& plan) {
  for (const std::string& word : arguments.words)
    if (const std::string path = path_in(word); names_file(arguments.here, path))
      WordCheck(arguments, plan, path).expect_reachable();
}

}  // namespace memduel
