// memduel import-appfl SERVER.yaml CLIENT.yaml…: APPFL's own configuration as an experiment.
#include "laboratory/appfl/import_appfl.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/standard_error.h"
#include "base/text_file.h"
#include "cli/print.h"
#include "laboratory/cli/verbs.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

struct ImportArguments {
  std::string server;
  std::vector<std::string> clients;
  std::vector<std::string> accepted;
  std::string out;
};

AppflFile read(const std::string& path) {
  return {path, read_text_file(path)};
}

/// An experiment that somebody may have edited since is not written over.
void write(const std::string& path, const std::string& text) {
  if (fs::exists(path))
    throw Error(ExitCode::usage, "the file exists", path, "remove it, or name another with -o");
  write_named_file(path, text);
}

int import(const ImportArguments& arguments) {
  const AppflFile server = read(arguments.server);
  std::vector<AppflFile> clients;
  std::vector<std::string> files{arguments.server};
  for (const std::string& path : arguments.clients) {
    clients.push_back(read(path));
    files.push_back(path);
  }
  const ImportedExperiment imported = import_appfl(server, clients);
  refuse_losses(imported.losses, arguments.accepted);
  const std::string text = render_import(imported, files);
  for (const std::string& loss : describe_losses(imported.losses))
    say(fmt::format("not carried over: {}\n", loss));
  if (arguments.out.empty()) {
    print(text);
    return 0;
  }
  write(arguments.out, text);
  say(fmt::format("wrote {}: memduel run {}\n", arguments.out, arguments.out));
  return 0;
}

}  // namespace

void add_import_appfl(CLI::App& app, Action& action) {
  const auto [verb, arguments] =
      add_verb(app, action, "import-appfl", "APPFL's own YAML as an experiment", import);
  verb->group("Replay");
  verb->footer(
      "Example: memduel import-appfl server_fedavg.yaml client_1.yaml client_2.yaml -o mnist.json\n"
      "One client file stands for all clients. What could not be carried over is named on standard "
      "error and at the top of the experiment; what changes memory is refused unless --accept "
      "names it.");
  verb->add_option("SERVER", arguments->server, "the server's YAML file")->required();
  verb->add_option("CLIENT", arguments->clients, "the clients' YAML files, in their order")
      ->required();
  verb->add_option("--accept", arguments->accepted,
                   "replay without this setting, though it changes memory: scheduler, aggregator, "
                   "trainer, use_secure_agg")
      ->type_name("KEY");
  verb->add_option("-o,--out", arguments->out, "the file to write; standard output without it")
      ->type_name("FILE.json");
}

}  // namespace memduel::cli
