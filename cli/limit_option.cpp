#include "limit_option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/metric_catalogue.h"
#include "model/metric_names.h"
#include "util/error.h"
#include "util/text.h"
#include "verdict/gates.h"

namespace memduel::cli {
namespace {

[[noreturn]] void refuse_limit(std::string_view limit, const std::string& what,
                               const std::string& advice) {
  throw Error(ExitCode::usage, what, fmt::format("--limit '{}'", limit), advice);
}

void check_metric(std::string_view limit, const std::string& metric) {
  if (is_known_metric(metric)) return;
  refuse_limit(limit, fmt::format("unknown metric '{}'", metric),
               advice_of_meant(meant_metrics(metric),
                               fmt::format("write {}, or a metric of memduel list metrics",
                                           names_of_limits())));
}

}  // namespace

std::string names_of_limits() {
  return fmt::format("{}", fmt::join(short_metric_names(), ", "));
}

std::string gate_of_limit(std::string_view limit) {
  const std::size_t at = limit.find_first_of("<>=");
  if (at == std::string_view::npos || limit.substr(at, 2) != "<=")
    refuse_limit(limit,
                 at == std::string_view::npos
                     ? "expected METRIC<=VALUE, found no <="
                     : fmt::format("expected METRIC<=VALUE, found {}",
                                   limit.substr(at, limit.find_first_not_of("<>=", at) - at)),
                 "for example --limit 'peak_rss<=200MiB'");
  const auto [role, metric] = role_metric_named(limit.substr(0, at));
  check_metric(limit, metric);
  std::string gate = fmt::format("{}.{}{}", role, metric, limit.substr(at));
  try {
    refuse_unjudgeable({parse_gate(gate)}, true, true);
  } catch (const Error& error) {
    refuse_limit(limit, error.what(), error.advice());
  }
  return gate;
}

}  // namespace memduel::cli
