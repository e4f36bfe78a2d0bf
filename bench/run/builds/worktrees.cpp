// Two revisions of a git repository, each in a worktree of its own: made, their arguments checked,
// built.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <sstream>
#include <string_view>
#include <utility>

#include "run/builds.h"
#include "run/plan.h"
#include "trial/processes.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"
#include "util/text.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// A checkout of a large repository takes its time.
constexpr double kMostSeconds = 1800;

HelperOptions without_git_variables() {
  HelperOptions options;
  for (const char* name : kGitVariables) options.environment[name] = std::nullopt;
  return options;
}

/// @param stop null: to clean up
HelperResult git(const fs::path& directory, const std::vector<std::string>& arguments,
                 const StopRequest* stop = &own_stop_request()) {
  // Hooks of the user's are for the user's own checkouts; an answer is for us, in one language.
  std::vector<std::string> words = {
      "git", "-C", directory.string(), "-c", "core.hooksPath=/dev/null", "--literal-pathspecs"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  HelperOptions options = without_git_variables();
  options.environment["LC_ALL"] = "C";
  options.within_seconds = kMostSeconds;
  options.stop = stop;
  return capture(words, options);
}

/// What git prints. Throws Error(io) with its words.
std::string ask_git(const fs::path& directory, const std::vector<std::string>& arguments) {
  const HelperResult answer = git(directory, arguments);
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
    say(fmt::format("memduel: removed the worktree of a killed memduel: {}\n",
                    escape_terminal(worktree)));
  }
}

fs::path repository_root() {
  const HelperResult answer = git(fs::current_path(), {"rev-parse", "--show-toplevel"});
  if (answer.exit_status != 0)
    throw Error(ExitCode::usage, without_line_end(answer.err), fs::current_path().string(),
                "--ref-a and --ref-b name revisions of the git repository around the current "
                "directory");
  return without_line_end(answer.out);
}

Revision find_revision(const fs::path& root, const std::string& name) {
  const HelperResult commit =
      git(root, {"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"});
  if (commit.exit_status != 0)
    throw Error(ExitCode::usage, fmt::format("expected a revision, found \"{}\"", name),
                root.string(),
                "see git log; in a shallow clone, run git fetch --unshallow first, or set "
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
  const HelperResult found =
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
      git(root_, {"worktree", "remove", "--force", "--force", worktree.string()}, nullptr);
      if (!fs::exists(worktree, error)) continue;
      // git leaves one with files that it may not delete or that it does not know any more.
      fs::remove_all(worktree, error);
      git(root_, {"worktree", "remove", "--force", "--force", worktree.string()}, nullptr);
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
      throw Error(ExitCode::usage,
                  fmt::format("found \"{}\", which neither revision contains", path), "--keep",
                  "use paths relative to the root of the repository");
    if (in_baseline) ask_git(baseline(), {"rm", "-r", "--force", "--quiet", "--", path});
    if (in_candidate) ask_git(baseline(), {"checkout", "--quiet", candidate_commit_, "--", path});
  }
}

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
    refuse(fmt::format("the revision {} does not contain", describe_revision(lacking)),
           in_b ? fmt::format("add --keep {} to use it for both, or write {}", target_.string(),
                              here())
                : advice());
  }

 private:
  /// Out of the worktree, whose folder is not there yet.
  void expect_outside() const {
    if (!is_there((plan_.folder / "a" / target_).lexically_normal()))
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
    return is_there(plan_.root / target_) && !is_of_the_checkout(plan_.root, target_);
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

int run_make(const MakeOptions& options) {
  HelperOptions how = without_git_variables();
  // Should this memduel be killed, the next one finds what it was building.
  how.environment[kTrialVariable] = unique_trial_name(0);
  how.environment[kBuildSessionVariable] = std::to_string(::getsid(0));
  for (const auto& [name, value] : options.command.env) how.environment[name] = value;
  how.directory = options.directory;
  how.log = options.log;
  how.within_seconds.reset();
  how.stop = options.stop;
  const std::string& program = options.command.argv[0];
  try {
    const HelperResult made = run_helper(options.command.argv, how);
    if (made.stopped)
      throw options.stop->error("stopped by a signal while building", options.directory.string());
    return made.exit_status;
  } catch (const Error& error) {
    if (error.code() != ExitCode::io || error.where() != program) throw;
    throw Error(ExitCode::usage, error.what(), program,
                "--build is split into words like in a shell; use -S for && and the like");
  }
}

std::string last_lines(const std::filesystem::path& log) {
  constexpr std::size_t kMostLines = 20;
  constexpr std::size_t kMostCharacters = 300;
  std::deque<std::string> lines;
  std::istringstream text(read_file(log));
  for (std::string line; std::getline(text, line);) {
    if (line.size() > kMostCharacters) line.resize(kMostCharacters);
    lines.push_back(std::move(line));
    if (lines.size() > kMostLines) lines.pop_front();
  }
  std::string excerpt;
  for (const std::string& line : lines) excerpt += "\n    " + line;
  return excerpt.empty() ? excerpt : "; the last lines:" + excerpt;
}

}  // namespace memduel
