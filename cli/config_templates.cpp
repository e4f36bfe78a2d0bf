#include "config_templates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <string_view>
#include <vector>

#include "cli/program.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel {

std::span<const EmbeddedFile> template_files();

namespace cli {
namespace {

constexpr std::string_view kFolder = "templates/";
constexpr std::string_view kExtension = ".json";

/// "flower-server" of "templates/flower-server.json".
std::string name_of(const EmbeddedFile& file) {
  std::string_view name = file.name;
  name.remove_prefix(kFolder.size());
  name.remove_suffix(kExtension.size());
  return std::string(name);
}

/// The comment that each template begins with, to its first line's end.
std::string summary_of(const EmbeddedFile& file) {
  constexpr std::string_view kComment = "// ";
  const std::string_view text = file.text;
  return std::string(text.substr(kComment.size(), text.find('\n') - kComment.size()));
}

}  // namespace

std::string list_templates() {
  constexpr std::size_t kIndent = 4;
  std::string text;
  for (const EmbeddedFile& file : template_files())
    text += wrapped_help(fmt::format("{}: {}", name_of(file), summary_of(file)), kIndent);
  return text;
}

std::string template_text(const std::string& name) {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : template_files()) {
    if (name_of(file) == name) return std::string(file.text);
    names.push_back(name_of(file));
  }
  throw Error(
      ExitCode::usage, fmt::format("found no template \"{}\"", name), "--template",
      nearest_advice(name, names, fmt::format("the templates are {}", fmt::join(names, ", "))));
}

}  // namespace cli
}  // namespace memduel
