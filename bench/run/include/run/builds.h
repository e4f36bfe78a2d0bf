// Two builds of one program as an experiment: what each build holds, worktrees of two revisions,
// the command that builds a revision, and the config that somebody would write for the comparison.
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/document.h"
#include "util/command_line.h"
#include "util/error.h"

namespace memduel {

struct BuildFile {
  std::filesystem::path path;
  bool is_elf = false;
  std::string build_id;     ///< hexadecimal; empty when the file has none
  std::string interpreter;  ///< the dynamic linker that it names; empty: static, or no program
  /// Of what is loaded into memory (of the whole file where it is no ELF file), without the build
  /// id and with the build's own directory left out of every text: equal sources that were built
  /// in two directories have debug information and assertions that name them.
  std::string code_sha256;
};

/// Throws Error(io) when the file cannot be read.
BuildFile read_build_file(const std::filesystem::path& file,
                          const std::filesystem::path& directory);

/// Whether both are the same program: by build id, else by what is loaded.
bool same_code(const BuildFile& a, const BuildFile& b);

struct LoadedLibrary {
  std::string name;            ///< as the program asks for it
  std::filesystem::path path;  ///< empty: not found
};

/// What the dynamic linker's --list prints; the kernel's own page and the linker are left out.
std::vector<LoadedLibrary> parse_library_list(const std::string& listing);

/// Asks the program's own dynamic linker, with `library_path` as LD_LIBRARY_PATH; nothing of the
/// program runs. Of a program that lacks a library only that one is told. Empty for a static
/// program or one that is no ELF file. Throws Error(cannot_measure) when the linker refuses the
/// program.
std::vector<LoadedLibrary> libraries_of(const BuildFile& program, const std::string& library_path);

struct BuildProgram {
  std::filesystem::path directory;  ///< absolute
  std::filesystem::path program;    ///< absolute
  /// LD_LIBRARY_PATH with which it loads the libraries of its own build; empty when it needs none.
  std::string library_path;
  std::vector<BuildFile> files;  ///< the program, then the libraries of its build that it loads
};

/// Looks up `program` in `directory`: a path below it, or a name that one executable in it has.
/// Libraries of which the build has a copy are taken from the build, checked by asking the dynamic
/// linker. `other` is the other build, out of which nothing may be loaded. Throws Error(usage)
/// when there is no such program, when a library is nowhere to be found, and when the program
/// insists on a copy outside its build; Error(io) when a file cannot be read.
BuildProgram find_in_build(const std::filesystem::path& directory, const std::string& program,
                           const std::filesystem::path& other);

/// Whether there is such a program (or are several) in `directory`.
bool is_in_build(const std::filesystem::path& directory, const std::string& program);

/// Whether program and libraries of both are the same, file by file. Never true for a script,
/// whose code is in files that nobody names.
bool same_build(const BuildProgram& a, const BuildProgram& b);

/// How one of them is told: "bin/hog, build id 1a2b…, with lib/libload.so".
std::string describe_build(const BuildProgram& build);

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

struct MakeOptions {
  CommandLine command;
  std::filesystem::path directory;  ///< in which it runs
  std::filesystem::path log;        ///< appended: stdout and stderr
  const StopRequest* stop = &own_stop_request();
};

/// Its exit status, 128 + signal when one ended it. It runs in a process group of its own, without
/// standard input and without the variables that git sets for hooks. Throws Error(usage) when it
/// cannot be started, Error(interrupted or terminated) when `stop` asks for it. In every case
/// what is left of the group is ended.
int run_make(const MakeOptions& options);

/// "; the last lines:" and the last lines of a log, each indented, at most 20. Empty if there is
/// none.
std::string last_lines(const std::filesystem::path& log);

struct BuildPair {
  std::filesystem::path a;  ///< the baseline's directory
  std::filesystem::path b;
  std::string arm_a = "a";  ///< names of the arms
  std::string arm_b = "b";
  bool calibrate = false;  ///< b is a twin of a
};

/// `name` where it can be the name of an arm, slashes as dashes; absent: it cannot.
std::optional<std::string> arm_name_for(const std::string& name);

struct BuildDuel {
  Document document;
  std::vector<BuildProgram> a;  ///< what each arm runs out of its build
  std::vector<BuildProgram> b;
};

/// One process of role `command`: `words` are the program in each build and its arguments. `cwd_a`
/// and `cwd_b` are where it runs. Throws as find_in_build does.
BuildDuel duel_of_program(const BuildPair& builds, const std::vector<std::string>& words,
                          const std::filesystem::path& cwd_a, const std::filesystem::path& cwd_b);

/// One arm of a config (`arm`, else its baseline) in both builds: of a command workload every
/// process whose program lies in the builds, of a replay memduel-worker. Throws Error(usage) when
/// the config names no program of the builds.
BuildDuel duel_of_config(const BuildPair& builds, Document document,
                         const std::optional<std::string>& arm, const std::string& origin);

/// Lets both arms of a job whose config lies in `directory` of the repository in `root` run in the
/// folders of their own worktrees, the builds, that are the job's `cwd`. Left as it is: a `cwd`
/// outside the repository or with placeholders, and a job of which a process has a `cwd` of its
/// own. Throws Error(usage) when a worktree has no such folder.
void start_in_worktrees(BuildDuel& duel, const BuildPair& builds, const std::filesystem::path& root,
                        const std::filesystem::path& directory);

/// Of every process of a config's `arm` (absent: its baseline) that start_in_worktrees would start
/// in the worktrees.
std::vector<WorktreeArguments> arguments_in_worktrees(const Document& document,
                                                      const std::optional<std::string>& arm,
                                                      const std::string& origin,
                                                      const std::filesystem::path& root,
                                                      const std::filesystem::path& directory);

/// Whether every program of both sides is the same, with the libraries that it loads.
bool same_programs(const BuildDuel& duel);

/// For the run's environment: each side's program and libraries with their build ids.
nlohmann::json describe_programs(const std::vector<BuildProgram>& programs);

}  // namespace memduel
