// memduel flamegraph PROFILE: one page with everything a profile knows, or what two differ in.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/print.h"
#include "cli/program.h"
#include "cli/verbs.h"
#include "named_file.h"
#include "profile/difference.h"
#include "profile/outputs.h"
#include "profile_file.h"
#include "reports/pages.h"
#include "util/error.h"

namespace memduel::cli {
namespace {

struct FlamegraphArguments {
  std::string profile;
  std::string other;
  std::optional<std::size_t> image;
  std::string kind;
  std::string output;
};

/// What was lost is said at once, and not only on the page.
void print_notes(const std::string& name, const Profile& profile) {
  for (const std::string& note : profile.notes) say(fmt::format("memduel: {}: {}\n", name, note));
}

int flamegraph(const FlamegraphArguments& arguments) {
  const std::filesystem::path file = arguments.profile;
  Kept kept{{file}};
  if (!arguments.other.empty()) kept.inputs.emplace_back(arguments.other);
  const NamedFile output(arguments.output.empty()
                             ? std::filesystem::path(file).replace_extension(".html")
                             : std::filesystem::path(arguments.output),
                         kept);
  const Profile profile = open_recording(file, arguments.image);
  FlameDataOptions options;
  options.names = {file.filename().string()};
  options.first = choose_kind(profile, kind_from(arguments.kind), arguments.profile);
  std::optional<Profile> other;
  std::string title = file.filename().string();
  if (!arguments.other.empty()) {
    const std::filesystem::path other_file = arguments.other;
    other = open_recording(other_file, arguments.image);
    if (!arguments.kind.empty()) choose_kind(*other, options.first, arguments.other);
    options.names.push_back(other_file.filename().string());
    const Comparability both = comparability_of(profile, *other, options.names);
    if (!both.warning.empty()) say(fmt::format("memduel: {}\n", both.warning));
    const bool common = std::ranges::find(both.kinds, options.first) != both.kinds.end();
    if (!common && arguments.kind.empty()) options.first = both.kinds.front();
    title = options.names[1] + " against " + title;
  }
  output.write(render_flame_page(title, flame_data(profile, other ? &*other : nullptr, options)));
  print_notes(options.names[0], profile);
  if (other) print_notes(options.names[1], *other);
  print(output.path().string() + "\n");
  return 0;
}

}  // namespace

void add_flamegraph(CLI::App& app, Action& action) {
  const auto [verb, arguments] = add_verb(
      app, action, "flamegraph", "draw a profile, or the difference of two, as a page", flamegraph);
  verb->group(kProfileGroup);
  set_usage(*verb, {"[OPTIONS] PROFILE", "[OPTIONS] OLD --diff NEW"});
  verb->footer(std::string("Examples:\n") +
               "  memduel flamegraph train.mdp\n"
               "  memduel flamegraph before.mdp --diff after.mdp -o change.html\n"
               "  memduel flamegraph heaptrack.client.4711.zst" +
               kProfileNotes +
               "\nsummary takes the same two profiles in the other order: NEW --diff OLD." +
               kKindNotes);
  verb->add_option("PROFILE", arguments->profile, kProfileHelp)->required();
  verb->add_option("--diff", arguments->other, "show what NEW has more or less than PROFILE (OLD)")
      ->type_name("NEW");
  add_image_option(*verb, arguments->image);
  add_kind_option(*verb, arguments->kind, "show this kind first");
  add_output_option(*verb, arguments->output, "FILE.html",
                    "write the page to FILE.html (default: PROFILE.html)");
}

}  // namespace memduel::cli
