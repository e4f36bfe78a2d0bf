// Two revisions of the current git repository side by side, each in a worktree of its own.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace memduel {

/// What git tells its hooks, and must not tell a command that works in another worktree.
inline constexpr std::array kGitVariables = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
                                             "GIT_PREFIX", "GIT_COMMON_DIR"};

struct Revision {
  std::string name;     ///< as it was asked for
  std::string commit;   ///< its full name
  std::string tree;     ///< equal trees hold equal files
  std::string time;     ///< of the commit, seconds since 1970
  std::string subject;  ///< the first line of what its author says
};

/// The root of the repository that the current directory is in. Throws Error(usage) outside one.
std::filesystem::path repository_root();

/// Throws Error(usage) when the repository in `root` has no such commit.
Revision find_revision(const std::filesystem::path& root, const std::string& name);

/// "main (1a2b3c4d5e6f)".
std::string describe_revision(const Revision& revision);

/// Whether the revision has a file or folder at `path`, relative to the root.
bool is_tracked(const std::filesystem::path& root, const Revision& revision,
                const std::filesystem::path& path);

/// Whether the checkout has a file at `path` that is either tracked or not ignored: not one that a
/// build leaves, nor one of a submodule.
bool is_of_the_checkout(const std::filesystem::path& root, const std::filesystem::path& path);

/// Those of the repository that a memduel that was killed left, named on stderr.
void remove_left_worktrees(const std::filesystem::path& root);

/// Worktrees FOLDER/a and FOLDER/b: names of equal length, so that what is built in them is placed
/// alike. Both are gone, with everything built in them, when this is.
class Worktrees {
 public:
  /// What an earlier memduel that was killed left there is replaced. Throws Error(io) with git's
  /// words when one cannot be made.
  Worktrees(std::filesystem::path root, std::filesystem::path folder, const Revision& baseline,
            const Revision& candidate);
  Worktrees(const Worktrees&) = delete;
  Worktrees& operator=(const Worktrees&) = delete;
  ~Worktrees();

  [[nodiscard]] std::filesystem::path baseline() const { return folder_ / "a"; }
  [[nodiscard]] std::filesystem::path candidate() const { return folder_ / "b"; }

  /// Replaces these paths (files or folders, relative to the root) in the baseline by the
  /// candidate's; one that the candidate has not is removed. Throws Error(usage) for a path that
  /// neither revision has.
  void keep(const std::vector<std::string>& paths) const;

 private:
  void remove() const;

  std::filesystem::path root_;
  std::filesystem::path folder_;
  std::string candidate_commit_;
};

}  // namespace memduel
