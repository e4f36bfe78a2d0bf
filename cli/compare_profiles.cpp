// memduel summary --diff, and memduel compare of two profiles.
#include "compare_profiles.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "cli/option_checks.h"
#include "cli/print.h"
#include "profile_file.h"
#include "reports/profile_comparison.h"
#include "reports/terminal.h"
#include "util/text.h"

namespace memduel::cli {

void add_summary_options(CLI::App& verb, SummaryOptions& options) {
  verb.add_option("--stacks", options.stacks, "print the N largest stacks of each kind")
      ->transform(no_sign())
      ->capture_default_str()
      ->type_name("N");
  verb.add_option("--frames", options.frames, "print N frames of each stack")
      ->transform(no_sign())
      ->capture_default_str()
      ->type_name("N");
  verb.add_flag("--all-frames", options.all_frames, "print whole names, and frames of libraries");
}

void add_json_option(CLI::App& verb, bool& json) {
  verb.add_flag("--json", json, "print the differences of two profiles as JSON");
}

int compare_profile_files(const ProfilesArguments& arguments) {
  Profile baseline = open_recording(arguments.baseline, arguments.image);
  Profile candidate = open_recording(arguments.candidate, arguments.image);
  const ProfileComparison comparison = compare_profiles(std::move(baseline), std::move(candidate),
                                                        {arguments.baseline, arguments.candidate},
                                                        {std::filesystem::current_path()});
  if (arguments.json)
    print(comparison_json(comparison, arguments.options.stacks).dump(2) + "\n");
  else
    print(fitted(escape_terminal_lines(comparison_text(comparison, arguments.options)),
                 columns_of(STDOUT_FILENO)));
  return 0;
}

}  // namespace memduel::cli
