#include "reports/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "html_page.h"
#include "model/metric_catalogue.h"
#include "templates/viewer.h"
#include "test_sample_run.h"

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
  EXPECT_THAT(
      page,
      HasSubstr("<title>Peak memory: cand&quot;1&quot; &amp; &lt;i&gt; vs. base&lt;b&gt;line"));
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

std::string gunzip(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  std::string out(1 << 24, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(Gzip, ComesBackUnchanged) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += static_cast<char>(i * i % 251);
  EXPECT_EQ(gunzip(gzip(text)), text);
  while (text.size() < 5'000'000) text += text;
  EXPECT_EQ(gunzip(gzip(text)), text);
  text.resize(std::size_t{2} << 20);
  EXPECT_EQ(gunzip(gzip(text)), text) << "two whole pieces";
  EXPECT_EQ(gunzip(gzip("")), "");
}

TEST(Gzip, GivesEqualBytesForEqualInput) {
  EXPECT_EQ(gzip("memory"), gzip("memory"));
}

// RFC 4648, section 10.
TEST(Base64, MatchesTheVectorsOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

// FIPS 180-4's "abc", as `printf abc | openssl dgst -sha256 -binary | base64` prints it.
TEST(Sha256, GivesRawBytesForAContentPolicy) {
  EXPECT_EQ(base64(sha256("abc")), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

using testing::ElementsAre;

/// Two trials of a role with the same peaks, round after round from 1.
Results run_of(const std::vector<double>& peaks) {
  Results results;
  for (int id = 1; id <= 2; ++id) {
    TrialData trial;
    trial.id = id;
    RoleData role;
    role.role = "server";
    for (std::size_t i = 0; i < peaks.size(); ++i) {
      RoundData round;
      round.round = static_cast<int>(i) + 1;
      round.metrics[std::string(kPeakRss)] = peaks[i];
      role.rounds.push_back(round);
    }
    trial.roles.push_back(role);
    results.trials.push_back(trial);
  }
  return results;
}

std::vector<int> rounds_in(const Results& results, std::size_t trial) {
  std::vector<int> rounds;
  for (const RoundData& round : results.trials[trial].roles[0].rounds)
    rounds.push_back(round.round);
  return rounds;
}

TEST(ThinnedRounds, AreAllWhereTheyFit) {
  Results results = run_of({1, 2, 3});
  EXPECT_EQ(thin_rounds(results, 6), 1);
  EXPECT_THAT(rounds_in(results, 0), ElementsAre(1, 2, 3));
}

TEST(ThinnedRounds, KeepTheLargestOfEachFewTheFirstAndTheLast) {
  // 20 values for 10: one of two rounds is left. Rounds 2 and 3 are neighbours, 4 and 5, and so on.
  Results results = run_of({1, 5, 4, 3, 9, 2, 8, 1, 1, 7});
  EXPECT_EQ(thin_rounds(results, 10), 2);
  EXPECT_THAT(rounds_in(results, 0), ElementsAre(1, 2, 5, 7, 8, 10));
  EXPECT_EQ(rounds_in(results, 0), rounds_in(results, 1)) << "medians by round need both";
}

TEST(ThinnedRounds, OfARunWithoutRoundsAreNone) {
  Results results;
  EXPECT_EQ(thin_rounds(results, 0), 1);
}

}  // namespace
}  // namespace memduel
