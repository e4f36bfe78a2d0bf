// Arguments that name files of the checkout, which the worktree of a revision does not have.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/builds/worktrees.h"

namespace memduel {

/// The words behind one program, and from where each side sees the files that they name.
struct WorktreeArguments {
  std::vector<std::string> words;
  std::filesystem::path here;    ///< where they are files now, absolute
  std::filesystem::path folder;  ///< of its worktree in which each side starts, from the root
  std::string place;             ///< of the words, for errors
};

/// Both sides of a comparison before their worktrees are made.
struct WorktreePlan {
  std::filesystem::path root;    ///< of the repository
  std::filesystem::path folder;  ///< the worktrees will be a and b in it
  Revision baseline;
  Revision candidate;
  std::vector<std::string> kept;  ///< paths that the baseline takes from the candidate
};

/// Throws Error(usage) with the path to use for a word that names a file which is here and will be
/// in neither or only one of the worktrees: it lies outside the repository, or git tracks nothing
/// at its place in a revision. A file that git ignores may be made by the build, and passes.
void refuse_unreachable(const WorktreeArguments& arguments, const WorktreePlan& plan);

}  // namespace memduel
