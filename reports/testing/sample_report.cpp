// Writes the reports of a made-up run, for tests of the page in a browser:
// memduel-sample-report DIR
// [plain|hostile|empty|failed|one-arm|unmarked|confidential|many|ablated|hostile-ablated|
//  profiled|hostile-profiled|traced|agreed|hostile-agreed]
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <string>

#include "analysis/results_json.h"
#include "base/error.h"
#include "base/file.h"
#include "reports/html.h"
#include "reports/testing/sample_run.h"

namespace {

using namespace memduel;

struct Kind {
  SampleOptions sample;
  ReportOptions report;
};

std::map<std::string, Kind> kinds() {
  std::map<std::string, Kind> all;
  all["plain"] = {};
  all["hostile"].sample = {.hostile = true, .failed_trial = true, .profiles = true};
  all["empty"].sample = {.candidates = 1, .blocks = -1};
  all["failed"].sample = {.all_failed = true};
  all["one-arm"].sample = {.candidates = 0};
  all["unmarked"].sample = {.rounds = 0};
  all["confidential"] = {{.failed_trial = true}, {.confidential = true}};
  all["many"].sample = {.candidates = 3, .blocks = 16, .rounds = 100};
  all["ablated"].sample = {.blocks = 6, .ablation = true};
  all["hostile-ablated"].sample = {.blocks = 2, .hostile = true, .ablation = true};
  all["profiled"].sample = {.differences = true};
  all["traced"].sample = {.candidates = 2, .profiles = true};
  all["hostile-profiled"].sample = {.blocks = 2, .hostile = true, .differences = true};
  all["agreed"].sample = {.profiles = true, .agreement = true};
  all["hostile-agreed"].sample = {.blocks = 2, .hostile = true, .agreement = true};
  return all;
}

void write_report(const std::filesystem::path& dir, const Kind& kind) {
  const Sample sample = make_sample(kind.sample);
  ReportOptions options = kind.report;
  options.profiles = sample_profiles(sample);
  const ReportModel model = build_report_model(sample.results, sample.run, options);
  std::filesystem::create_directories(dir);
  write_file_atomically(dir / "report.html", render_html(model));
  write_file_atomically(
      dir / "results.json",
      results_to_json(model.results).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 2 ? argv[2] : "plain";
  const auto all = kinds();
  const auto kind = all.find(name);
  if (argc < 2 || kind == all.end()) {
    fmt::print(stderr, "usage: memduel-sample-report DIR [KIND]\n");
    return 2;
  }
  try {
    write_report(argv[1], kind->second);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.message());
    return static_cast<int>(error.code());
  }
  return 0;
}
