// memduel export PROFILE --format F: a profile for another viewer.
#include <fmt/format.h>
#include <unistd.h>

#include "cli/print.h"
#include "cli/program.h"
#include "cli/verbs.h"
#include "model/removed.h"
#include "named_file.h"
#include "profile/outputs.h"
#include "profile_file.h"
#include "util/error.h"

namespace memduel::cli {
namespace {

struct ExportArguments {
  std::string profile;
  std::optional<std::size_t> image;
  std::string format;
  std::string kind;
  std::string output;
};

/// As CLI11 wants it: empty for a format that may be one.
std::string refuse_removed_format(const std::string& format) {
  const auto replacement = replacement_for(Removed::export_format, format);
  return replacement ? fmt::format("{}: {}", format, *replacement) : "";
}

std::string exported(const ExportArguments& arguments) {
  const std::optional<ProfileKind> wanted = kind_from(arguments.kind);
  if (wanted && arguments.format == "pprof")
    throw Error(ExitCode::usage, "a pprof file contains every kind", "--kind", "omit it");
  const Profile profile = open_recording(arguments.profile, arguments.image);
  if (arguments.format == "pprof") return export_pprof(profile);
  return export_folded(profile, choose_kind(profile, wanted, arguments.profile));
}

int export_profile(const ExportArguments& arguments) {
  if (arguments.format == "pprof" && arguments.output.empty() && isatty(STDOUT_FILENO) == 1)
    throw Error(ExitCode::usage, "pprof is binary and stdout is a terminal", "export",
                "add -o FILE.pb.gz");
  std::optional<NamedFile> output;
  if (!arguments.output.empty()) output.emplace(arguments.output, Kept{{arguments.profile}});
  const std::string bytes = exported(arguments);
  output ? output->write(bytes) : print(bytes);
  return 0;
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  const auto [verb, arguments] = add_verb(
      app, action, "export", "convert a profile to pprof or folded stacks", export_profile);
  verb->group(kProfileGroup);
  verb->footer(std::string("Examples:\n") +
               "  memduel export train.mdp --format folded --kind live > live.folded\n"
               "  memduel export train.mdp --format pprof -o train.pb.gz\n"
               "  pprof -tagroot=round,phase -http : train.pb.gz" +
               kProfileNotes + kKindNotes);
  set_usage(*verb, {"--format FORMAT [OPTIONS] PROFILE"});
  verb->add_option("PROFILE", arguments->profile, kProfileHelp)->required();
  add_image_option(*verb, arguments->image);
  verb->add_option("--format", arguments->format,
                   "write pprof (all kinds) or folded (bytes of one kind)")
      ->check(refuse_removed_format)
      ->check(CLI::IsMember({"pprof", "folded"}))
      ->type_name("FORMAT")
      ->required();
  add_kind_option(*verb, arguments->kind, "write this kind as folded stacks");
  add_output_option(*verb, arguments->output, "FILE", "write to FILE (default: stdout)");
}

}  // namespace memduel::cli
