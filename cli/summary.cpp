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
#include "cli/program.h"
#include "cli/verbs.h"
#include "compare_profiles.h"
#include "model/run_directory.h"
#include "profile/outputs.h"
#include "profile_file.h"
#include "run/store.h"
#include "state_runs.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel::cli {
namespace {

struct SummaryArguments {
  ProfilesArguments profiles;
  const CLI::App* verb = nullptr;
};

constexpr CommandForm kOneProfile{1, "summary of a profile"};
constexpr CommandForm kWholeFolder{2, "summary of a folder"};
constexpr CommandForm kTwoProfiles{4, "summary of two profiles"};
constexpr unsigned kOneOrTwoProfiles = kOneProfile.bit | kTwoProfiles.bit;
constexpr const char* kIsTable = "is one table of its profiles";
constexpr const char* kNameProfile = "name one of the profiles";

constexpr std::array kSummaryOptions = {
    OptionOfForms{"--stacks", kOneOrTwoProfiles, kIsTable, kNameProfile},
    OptionOfForms{"--frames", kOneOrTwoProfiles, kIsTable, kNameProfile},
    OptionOfForms{"--all-frames", kOneOrTwoProfiles, kIsTable, kNameProfile},
    OptionOfForms{"--process", kOneOrTwoProfiles, kIsTable, kNameProfile},
    OptionOfForms{"--diff", kOneOrTwoProfiles, kIsTable, kNameProfile},
    OptionOfForms{"--json", kTwoProfiles.bit, "prints text", "it belongs to --diff"},
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
  const ProfilesArguments& profiles = arguments.profiles;
  std::error_code unreadable;
  const bool folder = fs::is_directory(profiles.candidate, unreadable);
  const bool two = !profiles.baseline.empty();
  refuse_options_of_other_forms(*arguments.verb,
                                folder ? kWholeFolder
                                : two  ? kTwoProfiles
                                       : kOneProfile,
                                kSummaryOptions);
  if (folder) return summary_of_folder(profiles.candidate);
  if (two) return compare_profile_files(profiles);
  const Profile profile = open_recording(profiles.candidate, profiles.image);
  print_fitted(escape_terminal_lines(summarize(profile, profiles.options)));
  return 0;
}

}  // namespace

void add_summary(CLI::App& app, Action& action) {
  const auto [verb, arguments] =
      add_verb(app, action, "summary",
               "print a profile, or the difference of two: totals, top stacks", summary);
  verb->group(kProfileGroup);
  set_usage(*verb, {"[OPTIONS] PROFILE", "[OPTIONS] NEW --diff OLD"});
  verb->footer(
      std::string("Examples:\n"
                  "  memduel summary train.mdp\n"
                  "  memduel summary after.mdp --diff before.mdp\n"
                  "  memduel summary runs/quickstart") +
      kProfileNotes +
      "\nflamegraph takes the same two profiles in the other order: OLD --diff NEW."
      "\nA folder, a run directory or a name that memduel runs lists, as PROFILE, lists all its "
      "profiles.");
  ProfilesArguments& profiles = arguments->profiles;
  verb->add_option("PROFILE", profiles.candidate, kProfileHelp)->required()->transform(find_run);
  verb->add_option("--diff", profiles.baseline,
                   "print what PROFILE (NEW) has more or less than OLD")
      ->type_name("OLD");
  add_image_option(*verb, profiles.image);
  add_summary_options(*verb, profiles.options);
  add_json_option(*verb, profiles.json);
  arguments->verb = verb;
}

}  // namespace memduel::cli
