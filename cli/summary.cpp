// memduel summary PROFILE: totals, top stacks, sizes, temporary share, rounds and retention.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "cli/option_checks.h"
#include "cli/print.h"
#include "cli/verbs.h"
#include "model/run_directory.h"
#include "profile/outputs.h"
#include "profile_file.h"
#include "run/store.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel::cli {
namespace {

struct SummaryArguments {
  std::string profile;
  std::optional<std::size_t> image;
  SummaryOptions options;
  const CLI::App* verb = nullptr;
};

constexpr CommandForm kOneProfile{1, "summary of a profile"};
constexpr CommandForm kWholeFolder{2, "summary of a folder"};
constexpr const char* kIsTable = "is one table of its profiles";
constexpr const char* kNameProfile = "name one of the profiles";

constexpr std::array kSummaryOptions = {
    OptionOfForms{"--stacks", kOneProfile.bit, kIsTable, kNameProfile},
    OptionOfForms{"--frames", kOneProfile.bit, kIsTable, kNameProfile},
    OptionOfForms{"--all-frames", kOneProfile.bit, kIsTable, kNameProfile},
    OptionOfForms{"--process", kOneProfile.bit, kIsTable, kNameProfile},
};

namespace fs = std::filesystem;

/// Every profile in a folder, or of a run; what is none is told on standard error.
int summary_of_folder(const fs::path& given) {
  std::error_code unreadable;
  const bool is_run = fs::exists(given / kStoreFile, unreadable);
  const fs::path folder = is_run ? given / kProfilesFolder : given;
  if (is_run && !fs::is_directory(folder, unreadable))
    throw Error(ExitCode::io, "found no profile in this run", given.string(),
                "profiled trials write them: memduel run CONFIG --set profile.trials=1");
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<ProfileLine> lines;
  for (const fs::path& file : files) {
    try {
      lines.push_back(profile_line(escape_terminal(file.filename().string()), open_profile(file)));
    } catch (const Error& error) {
      say(fmt::format("memduel: skipped {}\n", escape_terminal_lines(error.message())));
    }
  }
  if (lines.empty())
    throw Error(ExitCode::io, "found no profile in this directory", folder.string());
  print_table(profile_table(std::move(lines)));
  return 0;
}

int summary(const SummaryArguments& arguments) {
  std::error_code unreadable;
  const bool folder = fs::is_directory(arguments.profile, unreadable);
  refuse_options_of_other_forms(*arguments.verb, folder ? kWholeFolder : kOneProfile,
                                kSummaryOptions);
  if (folder) return summary_of_folder(arguments.profile);
  const Profile profile = open_recording(arguments.profile, arguments.image);
  print_fitted(escape_terminal_lines(summarize(profile, arguments.options)));
  return 0;
}

}  // namespace

void add_summary(CLI::App& app, Action& action) {
  const auto [verb, arguments] = add_verb(
      app, action, "summary", "print a profile: totals, top stacks, sizes, retention", summary);
  verb->group(kProfileGroup);
  verb->footer(std::string("Examples:\n"
                           "  memduel summary train.mdp\n"
                           "  memduel summary runs/quickstart") +
               kProfileNotes + "\nA folder or a run directory as PROFILE lists all its profiles.");
  verb->add_option("PROFILE", arguments->profile, kProfileHelp)->required();
  add_image_option(*verb, arguments->image);
  verb->add_option("--stacks", arguments->options.stacks, "print the N largest stacks of each kind")
      ->transform(no_sign())
      ->capture_default_str()
      ->type_name("N");
  verb->add_option("--frames", arguments->options.frames, "print N frames of each stack")
      ->transform(no_sign())
      ->capture_default_str()
      ->type_name("N");
  verb->add_flag("--all-frames", arguments->options.all_frames,
                 "print whole names, and frames of allocators and libraries");
  arguments->verb = verb;
}

}  // namespace memduel::cli
