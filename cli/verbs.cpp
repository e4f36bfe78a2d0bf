#include "cli/verbs.h"

namespace memduel::cli {

std::vector<OtherProgram> other_programs() {
  return {{"upgrade-config", "rewrite a config of an earlier version", kSetupGroup},
          {"budget", "find the largest batch that fits a device", kFlGroup},
          {"checkpoints", "prune or summarize the checkpoints of a training", kFlGroup},
          {"fl", "list the commands of the package memduel-fl", kFlGroup}};
}

void add_verbs(CLI::App& app, Action& action) {
  add_compare(app, action);
  add_measure(app, action);
  add_run(app, action);
  add_ablate(app, action);
  add_calibrate(app, action);
  add_plan(app, action);
  add_watch(app, action);
  add_need(app, action);
  add_record(app, action);
  add_summary(app, action);
  add_flamegraph(app, action);
  add_export(app, action);
  add_report(app, action);
  add_explain(app, action);
  add_check(app, action);
  add_merge(app, action);
  add_runs(app, action);
  add_doctor(app, action);
  add_list(app, action);
  add_generate(app, action);
}

}  // namespace memduel::cli
