// Writes the reports of a made-up run, for tests of the page in a browser:
// memduel-sample-report DIR
// [plain|hostile|empty|failed|one-variant|unmarked|confidential|many|million|ablated|hostile-ablated|
//  hostile-many|one-trial|zeros|profiled|hostile-profiled|confidential-profiled|traced|agreed|hostile-agreed|running|growing|
//  hostile-growing|trained]
// memduel-sample-report DIR flame-plain|flame-hostile|flame-one|flame-large: only the flame graph
// of a made-up profile, of two where it has a candidate.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "profile/outputs.h"
#include "reports/pages.h"
#include "test_sample_profile.h"
#include "test_sample_run.h"
#include "util/error.h"
#include "util/file.h"
#include "verdict/result_files.h"

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
  all["one-variant"].sample = {.candidates = 0};
  all["unmarked"].sample = {.rounds = 0};
  all["hostile-many"].sample = {.candidates = 3, .hostile = true};
  all["one-trial"].sample = {.blocks = 1};
  all["zeros"].sample = {.zeros = true};
  all["confidential"] = {{.failed_trial = true}, {.confidential = true}};
  all["many"].sample = {.candidates = 3, .blocks = 16, .rounds = 100};
  all["million"].sample = {.blocks = 2, .rounds = 14'000, .phases = false, .series = false};
  all["ablated"].sample = {.blocks = 6, .ablation = true};
  all["hostile-ablated"].sample = {.blocks = 2, .hostile = true, .ablation = true};
  all["profiled"].sample = {.differences = true, .profiles = true};
  all["snapshots"].sample = {.differences = true, .snapshots = true, .profiles = true};
  all["confidential-profiled"] = {{.differences = true, .profiles = true}, {.confidential = true}};
  all["running"] = {{.blocks = 7, .next_look = 8}, {.running = std::vector{8, 12, 16}}};
  all["traced"].sample = {.candidates = 2, .profiles = true};
  all["hostile-profiled"].sample = {
      .blocks = 2, .hostile = true, .differences = true, .snapshots = true, .profiles = true};
  all["growing"].sample = {.profiles = true, .growth = true};
  all["hostile-growing"].sample = {.blocks = 2, .hostile = true, .growth = true};
  all["trained"].sample = {.candidates = 3, .parts = true};
  return all;
}

/// Every role's profile is the same one.
RunFlames sample_flames(const ReportModel& model, const ReportOptions& options,
                        const std::string& kind) {
  const std::vector<FlamePair> pairs = flame_pairs(model.results, options.profiles);
  std::map<std::string, int> side_of;
  for (const FlamePair& pair : pairs)
    for (std::size_t i = 0; i < pair.files.size(); ++i)
      side_of[pair.files[i]] = pair.arms[i] == model.results.baseline ? 0 : 1;
  RunFlamesOptions flames;
  flames.confidential = options.confidential;
  return load_flames(
      "", pairs,
      [&](const std::filesystem::path& file) {
        return sample_profile(kind, side_of.at(file.string()));
      },
      flames);
}

void write_flame(const std::filesystem::path& dir, const std::string& kind) {
  const Profile before = sample_profile(kind, 0);
  FlameDataOptions options;
  options.names = {"before", "after"};
  std::string data;
  if (kind == "one") {
    data = flame_data(before, nullptr, options);
  } else {
    const Profile after = sample_profile(kind, 1);
    data = flame_data(before, &after, options);
  }
  std::filesystem::create_directories(dir);
  write_file_atomically(dir / "flame.html", render_flame_page("sample", data));
}

void write_report(const std::filesystem::path& dir, const Kind& kind) {
  const Sample sample = make_sample(kind.sample);
  ReportOptions options = kind.report;
  options.profiles = sample_profiles(sample);
  ReportModel model = build_report_model(sample.results, sample.run, options);
  model.flames = sample_flames(model, options, kind.sample.hostile ? "hostile" : "plain");
  std::filesystem::create_directories(dir);
  write_file_atomically(dir / "report.html", render_html(model));
  write_file_atomically(
      dir / "results.json",
      results_to_json(model.results).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::string_view kFlame = "flame-";
  const std::string name = argc > 2 ? argv[2] : "plain";
  const auto all = kinds();
  const auto kind = all.find(name);
  const bool flame = name.starts_with(kFlame);
  if (argc < 2 || (kind == all.end() && !flame)) {
    fmt::print(stderr, "usage: memduel-sample-report DIR [KIND]\n");
    return 2;
  }
  try {
    if (flame)
      write_flame(argv[1], name.substr(kFlame.size()));
    else
      write_report(argv[1], kind->second);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.message());
    return static_cast<int>(error.code());
  }
  return 0;
}
