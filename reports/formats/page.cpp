#include "reports/formats/page.h"

#include <fmt/format.h>

#include "reports/tables/encode.h"
#include "reports/tables/escape.h"

namespace memduel {

std::string render_page(const Page& page) {
  const std::string policy = fmt::format(
      "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; "
      "base-uri 'none'; form-action 'none'",
      base64(sha256(page.script)), base64(sha256(page.style)));
  std::string attachments;
  for (const PageAttachment& one : page.attachments)
    attachments += fmt::format("<script type=\"text/plain\" id=\"{}\">{}</script>\n",
                               escape_markup(one.id), one.packed);
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
{attachments}</head>
<body>
<noscript>This report draws itself with the script it contains; please allow scripts.</noscript>
<script type="text/plain" id="memduel-data">{data}</script>
<script>{script}</script>
</body>
</html>
)",
      fmt::arg("policy", policy), fmt::arg("title", escape_markup(page.title)),
      fmt::arg("style", page.style), fmt::arg("data", base64(page.packed_data)),
      fmt::arg("attachments", attachments), fmt::arg("script", page.script));
}

}  // namespace memduel
