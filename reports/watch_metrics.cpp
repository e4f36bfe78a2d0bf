#include "reports/watch_metrics.h"

#include <fmt/format.h>

#include <functional>

#include "util/text.h"

namespace memduel {
namespace {

/// Of a label, between its quotes.
std::string label_text(const std::string& text) {
  std::string escaped;
  for (const char c : valid_utf8(text)) {
    if (c == '\n') {
      escaped += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string gauge_head(const char* name, const char* help) {
  return fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name, help);
}

}  // namespace

std::string watch_metrics(const WatchSnapshot& snapshot, const std::string& run,
                          std::optional<double> end) {
  const std::string run_label = fmt::format("run=\"{}\"", label_text(run));
  std::string out;
  using Value = std::function<std::optional<std::int64_t>(const WatchedNow&)>;
  const auto add_roles = [&](const char* name, const char* help, const Value& value) {
    std::string lines;
    for (const WatchedNow& role : snapshot.roles)
      if (const auto number = value(role))
        lines += fmt::format("{}{{{},role=\"{}\"}} {}\n", name, run_label, label_text(role.role),
                             *number);
    if (!lines.empty()) out += gauge_head(name, help) + lines;
  };
  if (!end) {
    add_roles("memduel_processes", "Processes of a role.", [](const WatchedNow& role) {
      return std::optional(static_cast<std::int64_t>(role.processes));
    });
    add_roles("memduel_rss_bytes", "Resident set size of the processes of a role.",
              [](const WatchedNow& role) { return role.rss_bytes; });
    add_roles("memduel_pss_bytes",
              "Proportional set size of the processes of a role, as last read.",
              [](const WatchedNow& role) { return role.pss_bytes; });
  }
  add_roles("memduel_peak_rss_bytes", "Largest resident set size of a role so far.",
            [](const WatchedNow& role) { return role.peak_rss_bytes; });
  const auto add = [&](const char* name, const char* help, const std::string& value) {
    out += gauge_head(name, help) + fmt::format("{}{{{}}} {}\n", name, run_label, value);
  };
  if (snapshot.peak_rss_bytes)
    add("memduel_job_peak_rss_bytes", "Largest sum of the resident set sizes of all roles so far.",
        std::to_string(*snapshot.peak_rss_bytes));
  if (end)
    add("memduel_watch_end_time_seconds", "End of the watch, in seconds since 1970.",
        fmt::format("{:.3f}", *end));
  return out + "# EOF\n";
}

}  // namespace memduel
