// memduel-fl's own commands.
#pragma once

#include "cli/verbs.h"

namespace memduel::cli {

void add_budget(CLI::App& app, Action& action);
void add_checkpoints(CLI::App& app, Action& action);
/// list datasets|models: what memduel's own list shows of the FL workloads.
void add_fl_list(CLI::App& app, Action& action);
/// catalogue, expand, site, doctor: what memduel asks, answered in JSON. Not in --help.
void add_answers(CLI::App& app, Action& action);

}  // namespace memduel::cli
