// memduel generate KIND: the manual page and completions that an installation brings. Not in
// --help.
#include <memory>
#include <string>

#include "cli/print.h"
#include "cli/shell_files.h"
#include "cli/verbs.h"

namespace memduel::cli {

void add_generate(CLI::App& app, Action& action) {
  auto kind = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("generate", "manual page and completions");
  verb->group("");
  verb->add_option("KIND", *kind)
      ->required()
      ->check(CLI::IsMember({"manual", "bash", "zsh", "fish"}));
  verb->callback([kind, &app, &action] {
    action = [kind, &app] {
      print(*kind == "manual" ? manual_page(app)
            : *kind == "bash" ? bash_completion(app)
            : *kind == "zsh"  ? zsh_completion(app)
                              : fish_completion(app));
      return 0;
    };
  });
}

}  // namespace memduel::cli
