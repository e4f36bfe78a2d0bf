#include "reports/formats/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/tables/encode.h"
#include "reports/testing/sample_run.h"
#include "templates/viewer.h"

namespace memduel {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string page_of(const SampleOptions& options) {
  const Sample sample = make_sample(options);
  return render_html(build_report_model(sample.results, sample.run));
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(HtmlReport, HoldsHostileTextNowhereOutsideItsEncodedData) {
  const std::string page = page_of({.blocks = 2, .hostile = true, .failed_trial = true});
  EXPECT_THAT(page, Not(HasSubstr("window.hacked=1</script>")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("<title>&quot;&#39;&gt;&lt;script&gt;"));
}

TEST(HtmlReport, HasTwoScriptElementsAndAPolicyThatAllowsOnlyItsOwnScript) {
  const std::string page = page_of({.blocks = 1, .hostile = true});
  EXPECT_EQ(count(page, "</script>"), 2u);
  EXPECT_EQ(count(page, "</style>"), 1u);
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-" +
                              base64(sha256(viewer_script())) + "'"));
}

TEST(HtmlReport, KeepsFlameGraphsInTheHeadWhereNoRedrawingRemovesThem) {
  ReportModel model = sample_model({.blocks = 1});
  model.flames.shown.push_back({{"recorder", "server", {"a"}, {"profiles/1-server.mdp"}}, "QUJD"});
  const std::string page = render_html(model);
  const size_t flame =
      page.find("<script type=\"text/plain\" id=\"memduel-flame-0\">QUJD</script>");
  EXPECT_LT(flame, page.find("</head>"));
}

TEST(HtmlReport, IsTheSameForTheSameRun) {
  EXPECT_EQ(page_of({.blocks = 1}), page_of({.blocks = 1}));
}

}  // namespace
}  // namespace memduel
