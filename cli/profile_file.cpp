#include "cli/profile_file.h"

#include "base/command_line.h"
#include "base/error.h"
#include "profilers/readers/registry.h"

namespace memduel::cli {

Profile open_profile(const std::filesystem::path& file) {
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown))
    throw Error(ExitCode::io, "found a folder, expected a profile", file.string(),
                "memduel summary " + quoted_command_line({file.string()}) + " lists those in it");
  return read_profile(file);
}

void add_kind_option(CLI::App& verb, std::string& word, const std::string& purpose) {
  verb.add_option("--kind", word,
                  purpose +
                      ": peak, live, allocated, temporary or resident (default: the first of peak, "
                      "live, allocated that the profile has; resident needs a snapshot, see record "
                      "--snapshot-at)");
}

void add_output_option(CLI::App& verb, std::string& file, const std::string& type,
                       const std::string& purpose) {
  verb.add_option("-o,--output", file, purpose)->type_name(type);
}

void refuse_to_replace(const std::filesystem::path& profile, const std::filesystem::path& output) {
  std::error_code error;
  if (!std::filesystem::equivalent(profile, output, error)) return;
  throw Error(ExitCode::usage, "found the profile itself, expected another file to write",
              output.string(), "name another with -o");
}

std::optional<ProfileKind> kind_from(const std::string& word) {
  if (word.empty()) return std::nullopt;
  return profile_kind_from(word);
}

}  // namespace memduel::cli
