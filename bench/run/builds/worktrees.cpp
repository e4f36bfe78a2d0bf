#include "experiment/builds/worktrees.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>
#include <string_view>
#include <utility>

#include "base/capture.h"
#include "base/characters.h"
#include "base/error.h"
#include "base/file.h"
#include "base/standard_error.h"
#include "base/text.h"
#include "experiment/trial/trial_name.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// A checkout of a large repository takes its time.
constexpr double kMostSeconds = 1800;

Captured git(const fs::path& directory, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"env"};
  for (const char* name : kGitVariables) words.insert(words.end(), {"-u", name});
  // Hooks of the user's are for the user's own checkouts; an answer is for us, in one language.
  words.insert(words.end(), {"LC_ALL=C", "git", "-C", directory.string(), "-c",
                             "core.hooksPath=/dev/null", "--literal-pathspecs"});
  words.insert(words.end(), arguments.begin(), arguments.end());
  CaptureOptions options;
  options.within_seconds = kMostSeconds;
  return capture(words, options);
}

/// What git prints. Throws Error(io) with its words.
std::string ask_git(const fs::path& directory, const std::vector<std::string>& arguments) {
  const Captured answer = git(directory, arguments);
  if (answer.exit_status != 0)
    throw Error(
        ExitCode::io,
        fmt::format("git {} failed: {}", fmt::join(arguments, " "), without_line_end(answer.err)),
        directory.string());
  return without_line_end(answer.out);
}

/// What `git worktree lock` says of ours: whose they are. git prunes no locked ones.
constexpr std::string_view kLockReason = "memduel ";

void take(const fs::path& root, const fs::path& worktree) {
  ask_git(root, {"worktree", "lock", "--reason", std::string(kLockReason) + unique_trial_name(0),
                 worktree.string()});
}

}  // namespace

void remove_left_worktrees(const fs::path& root) {
  std::istringstream lines(ask_git(root, {"worktree", "list", "--porcelain"}));
  constexpr std::string_view kPath = "worktree ";
  const std::string locked = "locked " + std::string(kLockReason);
  std::string worktree;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kPath)) worktree = line.substr(kPath.size());
    if (!line.starts_with(locked) || !owner_has_ended(line.substr(locked.size()))) continue;
    git(root, {"worktree", "remove", "--force", "--force", worktree});
    std::error_code not_empty;
    fs::remove(fs::path(worktree).parent_path(), not_empty);
    say(fmt::format("memduel: removed a worktree that a memduel that was killed left: {}\n",
                    escape_terminal(worktree)));
  }
}

fs::path repository_root() {
  const Captured answer = git(fs::current_path(), {"rev-parse", "--show-toplevel"});
  if (answer.exit_status != 0)
    throw Error(ExitCode::usage, without_line_end(answer.err), fs::current_path().string(),
                "--ref-a and --ref-b name revisions of the git repository around the current "
                "directory");
  return without_line_end(answer.out);
}

Revision find_revision(const fs::path& root, const std::string& name) {
  const Captured commit =
      git(root, {"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"});
  if (commit.exit_status != 0)
    throw Error(ExitCode::usage, fmt::format("found \"{}\", expected a revision", name),
                root.string(),
                "see git log; a shallow clone lacks older ones: git fetch --unshallow, or "
                "fetch-depth: 0 in CI");
  const std::string id = without_line_end(commit.out);
  const std::string told = ask_git(root, {"show", "--no-patch", "--format=%ct %T %s", id});
  std::istringstream in(told);
  Revision revision{name, id, {}, {}, {}};
  in >> revision.time >> revision.tree >> std::ws;
  std::getline(in, revision.subject);
  revision.subject = valid_utf8(revision.subject);
  return revision;
}

std::string describe_revision(const Revision& revision) {
  constexpr std::size_t kShownDigits = 12;
  const std::string commit = revision.commit.substr(0, kShownDigits);
  return revision.commit.starts_with(revision.name) ? commit
                                                    : fmt::format("{} ({})", revision.name, commit);
}

bool is_tracked(const fs::path& root, const Revision& revision, const fs::path& path) {
  // git writes a folder without the slash at its end.
  const fs::path named = path.has_filename() ? path : path.parent_path();
  const std::string object = revision.commit + ":" + (named == "." ? "" : named.string());
  return git(root, {"cat-file", "-e", object}).exit_status == 0;
}

bool is_of_the_checkout(const fs::path& root, const fs::path& path) {
  const Captured found =
      git(root, {"ls-files", "--cached", "--others", "--exclude-standard", "--", path.string()});
  return found.exit_status == 0 && !found.out.empty();
}

Worktrees::Worktrees(fs::path root, fs::path folder, const Revision& baseline,
                     const Revision& candidate)
    : root_(std::move(root)),
      folder_(fs::weakly_canonical(fs::absolute(folder))),
      candidate_commit_(candidate.commit) {
  remove();
  make_directory(folder_);
  try {
    ask_git(root_, {"worktree", "add", "--detach", this->baseline().string(), baseline.commit});
    take(root_, this->baseline());
    ask_git(root_, {"worktree", "add", "--detach", this->candidate().string(), candidate.commit});
    take(root_, this->candidate());
  } catch (...) {
    remove();
    throw;
  }
}

Worktrees::~Worktrees() {
  remove();
}

// A destructor must not throw, and nothing more can be done about a failure than to name it.
void Worktrees::remove() const {
  for (const fs::path& worktree : {baseline(), candidate()}) {
    std::error_code error;
    if (!fs::exists(worktree, error)) continue;
    try {
      git(root_, {"worktree", "remove", "--force", "--force", worktree.string()});
      if (!fs::exists(worktree, error)) continue;
      // git leaves one with files that it may not delete or that it does not know any more.
      fs::remove_all(worktree, error);
      git(root_, {"worktree", "remove", "--force", "--force", worktree.string()});
    } catch (const std::exception& problem) {
      say(fmt::format("memduel: {}\n", problem.what()));
    }
    if (fs::exists(worktree, error))
      say(fmt::format("memduel: cannot remove the worktree {}\n  git worktree remove --force\n",
                      worktree.string()));
  }
  std::error_code not_empty;
  fs::remove(folder_, not_empty);
}

void Worktrees::keep(const std::vector<std::string>& paths) const {
  for (const std::string& path : paths) {
    // git refuses a path outside the repository; for us it is one that is in none.
    const bool in_candidate = !git(candidate(), {"ls-files", "--", path}).out.empty();
    const bool in_baseline = !git(baseline(), {"ls-files", "--", path}).out.empty();
    if (!in_candidate && !in_baseline)
      throw Error(ExitCode::usage, fmt::format("found \"{}\", which neither revision has", path),
                  "--keep", "give paths of the repository, relative to its root");
    if (in_baseline) ask_git(baseline(), {"rm", "-r", "--force", "--quiet", "--", path});
    if (in_candidate) ask_git(baseline(), {"checkout", "--quiet", candidate_commit_, "--", path});
  }
}

}  // namespace memduel
