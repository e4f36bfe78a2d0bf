// What memduel asks memduel-fl, answered in JSON: a provider's three words, and doctor.
#include <iostream>
#include <iterator>

#include "cli/print.h"
#include "fl_commands.h"
#include "provider/expand.h"
#include "util/error.h"
#include "util/json.h"

namespace memduel::cli {
namespace {

using nlohmann::json;

json request_from_standard_input() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  json request = parse_foreign_json(text);
  if (!request.is_object())
    throw Error(ExitCode::usage, "expected a JSON object as in docs/providers.md",
                "standard input");
  return request;
}

int answer(const std::string& word) {
  try {
    const json request = word == "catalogue" ? json() : request_from_standard_input();
    print(ask_fl({}, word, request).dump() + "\n");
    return 0;
  } catch (const json::exception& error) {
    throw Error(ExitCode::usage, "no request: " + reason_of(error), "standard input",
                "see docs/providers.md");
  } catch (const Error& error) {
    print(refusal_json(error).dump() + "\n");
    return static_cast<int>(error.code());
  }
}

}  // namespace

void add_answers(CLI::App& app, Action& action) {
  for (const std::string word : {"catalogue", "expand", "site"}) {
    CLI::App* verb = app.add_subcommand(word, "print what memduel run needs, as JSON");
    verb->group("");
    verb->callback([word, &action] { action = [word] { return answer(word); }; });
  }
  CLI::App* doctor = app.add_subcommand("doctor", "print what memduel doctor shows, as JSON");
  doctor->group("");
  doctor->callback([&action] {
    action = [] {
      print(describe_fl().dump() + "\n");
      return 0;
    };
  });
}

}  // namespace memduel::cli
