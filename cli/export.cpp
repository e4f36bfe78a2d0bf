// memduel export PROFILE --format F: a profile for another viewer.
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/removed.h"
#include "cli/print.h"
#include "cli/profile_file.h"
#include "cli/verbs.h"
#include "profilers/profile/questions/export_profile.h"

namespace memduel::cli {
namespace {

struct ExportArguments {
  std::string profile;
  std::string format;
  std::string kind;
  std::string output;
};

/// As CLI11 wants it: empty for a format that may be one.
std::string refuse_removed_format(const std::string& format) {
  const auto replacement = replacement_for(Removed::export_format, format);
  return replacement ? fmt::format("{}: {}", format, *replacement) : "";
}

std::string exported(const Profile& profile, const ExportArguments& arguments) {
  const std::optional<ProfileKind> wanted = kind_from(arguments.kind);
  const ProfileKind kind = choose_kind(profile, wanted, arguments.profile);
  if (arguments.format == "folded") return export_folded(profile, kind);
  return export_pprof(profile);
}

int export_profile(const ExportArguments& arguments) {
  if (arguments.format == "pprof" && arguments.output.empty() && isatty(STDOUT_FILENO) == 1)
    throw Error(ExitCode::usage, "pprof is binary and stdout is a terminal", "export",
                "add -o FILE.pb.gz");
  if (!arguments.output.empty()) refuse_to_replace(arguments.profile, arguments.output);
  const std::string bytes = exported(open_profile(arguments.profile), arguments);
  if (arguments.output.empty()) {
    print(bytes);
  } else {
    write_named_file(arguments.output, bytes);
  }
  return 0;
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  const auto [verb, arguments] =
      add_verb(app, action, "export", "write a profile in another viewer's format", export_profile);
  verb->group("Look");
  verb->footer(
      "Examples:\n"
      "  memduel export train.mdp --format folded --kind live > live.folded\n"
      "  memduel export train.mdp --format pprof -o train.pb.gz\n"
      "  pprof -tagroot=round,phase -http : train.pb.gz");
  verb->add_option("PROFILE", arguments->profile, kProfileHelp)->required();
  verb->add_option("--format", arguments->format, "pprof holds every kind; folded counts bytes")
      ->check(refuse_removed_format)
      ->check(CLI::IsMember({"pprof", "folded"}))
      ->required();
  add_kind_option(*verb, arguments->kind, "what folded holds");
  add_output_option(*verb, arguments->output, "FILE", "the file to write (default: stdout)");
}

}  // namespace memduel::cli
