#include "fl.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "config/provider.h"
#include "util/error.h"
#include "util/json.h"
#include "util/process.h"

namespace memduel::cli {

std::optional<std::string> find_fl() {
  const auto found = resolve_program(own_program(kDefaultProvider), ".", own_path());
  return found ? std::optional(found->string()) : std::nullopt;
}

std::optional<FlHere> ask_fl_of_machine() {
  const auto program = find_fl();
  if (!program) return std::nullopt;
  const HelperResult answer = capture({*program, "doctor"});
  if (answer.exit_status != 0)
    throw Error(ExitCode::io,
                fmt::format("doctor ended with status {}: {}", answer.exit_status, answer.err),
                *program);
  try {
    const nlohmann::json value = parse_foreign_json(answer.out);
    FlHere here{{}, value.at("cuda"), value.at("no_cuda")};
    for (const nlohmann::json& row : value.at("rows"))
      here.rows.push_back({row.at("name"), row.at("ok"), row.at("detail"), row.at("advice")});
    return here;
  } catch (const nlohmann::json::exception&) {
    throw Error(ExitCode::io, "expected memduel-fl of this version, found another version",
                *program, "install both of one version");
  }
}

int list_of_fl(const std::string& kind) {
  const auto program = find_fl();
  if (!program)
    throw Error(ExitCode::cannot_measure,
                "memduel-fl, which provides the " + kind + ", is not installed", "",
                "install the package memduel-fl; from source: build preset release");
  execl(program->c_str(), "memduel-list", kind.c_str(), nullptr);
  throw Error(ExitCode::io, "cannot be started", *program);
}

}  // namespace memduel::cli
