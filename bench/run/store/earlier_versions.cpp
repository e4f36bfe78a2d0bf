// Stores of earlier versions, read as the current one is.

#include <fmt/format.h>

#include <string>

#include "model/renamed_since_1.h"
#include "run/store.h"
#include "store_schema.h"

namespace memduel {
namespace {

using sqlite::Database;
using sqlite::Statement;

/// The column with the names that were changed, as SQL.
std::string renamed(NameOf of, const std::string& column) {
  std::string sql = fmt::format("CASE {}", column);
  for (const RenamedName& one : renamed_names())
    if (one.of == of) sql += fmt::format(" WHEN '{}' THEN '{}'", one.was, one.is);
  return fmt::format("{} ELSE {} END AS {}", sql, column, column);
}

void show(const Database& database, const std::string& table, const std::string& columns,
          bool exists = true) {
  Statement(database, fmt::format("CREATE TEMP VIEW IF NOT EXISTS {} AS SELECT {} {}", table,
                                  columns, exists ? "FROM main." + table : "WHERE 0"))
      .run();
}

}  // namespace

void show_as_current(const Database& database, std::int64_t version) {
  if (version >= kStoreVersion) return;
  show(database, "metric_names", "0 AS id, '' AS names", false);
  const std::string sampled = version < 5 ? "0 AS peak_rss_is_sampled" : "peak_rss_is_sampled";
  const std::string apart = ", NULL AS names, NULL AS amounts";  // in a row for each number
  show(database, "round", "id, role, round, begin_ns, end_ns, " + sampled + apart);
  show(database, "phase", "id, round, phase, begin_ns, end_ns" + apart);
  if (version >= kStoreOfSchema2) return;
  if (Statement(database, fmt::format("SELECT 1 FROM main.role WHERE role = '{}'", kTree)).step())
    refuse_process_called_all("");
  const std::string metric = renamed(NameOf::metric, "metric");
  show(
      database, "trial",
      fmt::format("id, block, position, arm AS variant, kind, status, failure, harness_fault, "
                  "begin_ns, end_ns, harness_cpu_seconds, model_sha256, {} AS profiler",
                  version < 3 ? "CASE kind WHEN 'profile' THEN 'recorder' ELSE '' END" : "tracer"));
  show(database, "role",
       fmt::format("id, trial, {}, exit_status, exit_signal, {}", renamed(NameOf::role, "role"),
                   sampled));
  show(database, "role_metric", fmt::format("role, {}, value", metric));
  show(database, "round_metric", fmt::format("round, {}, value", metric));
  show(database, "phase_metric", fmt::format("phase, {}, value", metric));
  show(database, "series", fmt::format("role, {}, samples", metric));
  show(database, "note",
       fmt::format("rowid, kind, {}, message, advice", renamed(NameOf::note, "code")));
  if (version < 2) {
    show(database, "trial_file", "0 AS trial, '' AS file, '' AS sha256", false);
    show(database, "file_difference",
         "'' AS baseline, '' AS candidate, '' AS file, 0 AS max_difference, "
         "0 AS max_within_baseline",
         false);
  }
  if (version < 3)
    show(database, "trial_allocator", "0 AS trial, '' AS role, '' AS library", false);
  if (version < 4) show(database, "role_direction", "0 AS role, '' AS metric, '' AS better", false);
  if (version < 5)
    show(database, "outside_rounds",
         "0 AS role, '' AS part, 0 AS begin_ns, 0 AS end_ns, 0 AS peak_rss_bytes, "
         "0 AS peak_rss_is_sampled",
         false);
}

}  // namespace memduel
