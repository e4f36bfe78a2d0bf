#include "reports/html.h"

#include <fmt/format.h>

#include <string_view>

#include "reports/encode.h"
#include "reports/escape.h"
#include "reports/model_json.h"
#include "templates/viewer.h"

namespace memduel {

std::string render_html(const ReportModel& model) {
  // Bytes that are not UTF-8 (a log line may hold any) become U+FFFD here.
  const std::string data =
      report_model_to_json(model).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const std::string policy = fmt::format(
      "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; "
      "base-uri 'none'; form-action 'none'",
      base64(sha256(viewer_script())), base64(sha256(viewer_style())));
  return fmt::format(
      R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="memduel">
<title>{title} · memduel</title>
<style>{style}</style>
</head>
<body>
<noscript>This report draws itself with the script it contains; please allow scripts.</noscript>
<script type="text/plain" id="memduel-data">{data}</script>
<script>{script}</script>
</body>
</html>
)",
      fmt::arg("policy", policy), fmt::arg("title", escape_markup(model.title)),
      fmt::arg("style", viewer_style()), fmt::arg("data", base64(gzip(data))),
      fmt::arg("script", viewer_script()));
}

}  // namespace memduel
