// How results become the report's model, and the sentence that says which candidate is best.

#include "reports/report_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "ablation_tables.h"
#include "confidential.h"
#include "model/metric_catalogue.h"
#include "model/run_directory.h"
#include "reports/memory_tables.h"
#include "util/command_line.h"
#include "util/text.h"
#include "verdict/questions.h"
#include "verdict/results.h"
#include "words.h"

namespace memduel {

/// "Best of 3 candidates: minimal. server memory above idle at its peak: minimal has 94% LESS,
/// optimized 60% LESS; …; each against original."; empty where none improved the first gate's row,
/// and with fewer than two.
Sentence best_sentence(const Results& results);

namespace {

using RankedRows = std::vector<const Comparison*>;

/// Empty where nothing is known of any candidate.
std::string of_metric(const JobFacts& job, const RankedRows& rows) {
  if (std::ranges::all_of(rows,
                          [](const auto* row) { return row->verdict == Verdict::inconclusive; }))
    return {};
  const Comparison& best = *rows.front();
  const std::string what = quantity(job, best.role, best.metric);
  if (std::ranges::all_of(rows, [](const auto* row) { return row->verdict == Verdict::unchanged; }))
    return what + ": all have the SAME";
  std::string text = fmt::format("{}: {} {}", what, best.candidate, decided_words(best));
  for (std::size_t i = 1; i < rows.size(); ++i)
    text += fmt::format(", {} {}", rows[i]->candidate, decided_words(*rows[i]));
  if (!told_apart(best, *rows[1]))
    text += fmt::format(" ({} and {} are not told apart)", best.candidate, rows[1]->candidate);
  return text;
}

}  // namespace

Sentence best_sentence(const Results& results) {
  const Comparison* first = first_gate_row(results);
  if (first == nullptr) return {};
  const RankedRows rows = ranked_rows(results, *first);
  if (rows.size() < 2 || !results.overall.best) return {};
  Sentence sentence;
  sentence.add(fmt::format("Best of {} candidates: {}.", rows.size(), *results.overall.best),
               Mark::strong);
  std::vector<std::string> parts;
  std::set<std::pair<std::string, std::string>> told;
  for (const Comparison& c : results.comparisons) {
    if (!c.is_asked() || !told.emplace(c.role, c.metric).second) continue;
    const RankedRows of_row = ranked_rows(results, c);
    if (of_row.size() < 2) continue;
    if (const std::string one = of_metric(results.job, of_row); !one.empty()) parts.push_back(one);
  }
  parts.push_back("each against " + results.baseline);
  return sentence.add(fmt::format(" {}.", fmt::join(parts, "; ")));
}

namespace {

/// The gate that the headline of a row shows: of several the one that decides most.
const GateResult* headline_gate(const Comparison& c, const Results& results) {
  const auto place = [](const GateResult& gate) {
    const int outcome = gate.outcome == GateOutcome::failed         ? 0
                        : gate.not_measured                         ? 1
                        : gate.outcome == GateOutcome::inconclusive ? 2
                                                                    : 3;
    return std::make_tuple(gate.advisory, outcome, !gate.beyond_bound);
  };
  const GateResult* shown = nullptr;
  for (const GateResult& gate : results.gates)
    if (gate.asks_about(c) && (shown == nullptr || place(gate) < place(*shown))) shown = &gate;
  return shown;
}

SideEffect gate_line(const GateResult& gate) {
  const Verdict verdict = gate.outcome == GateOutcome::failed   ? Verdict::regressed
                          : gate.outcome == GateOutcome::passed ? Verdict::unchanged
                                                                : Verdict::inconclusive;
  // The reason of one that was not measured begins with its word.
  const std::string said =
      gate.not_measured ? gate.reason : fmt::format("{}: {}", gate.word(), gate.reason);
  return {Topic::gate,
          fmt::format("{} {} for {}: {}", gate.advisory ? "Advisory gate" : "Gate", gate.name(),
                      gate.candidate, said),
          verdict, gate};
}

/// The gates that no headline shows: ceilings, a second bound on a row, what was not measured.
std::vector<SideEffect> other_gates(const Results& results) {
  std::set<const GateResult*> shown;
  for (const Comparison& c : results.comparisons)
    if (c.is_asked()) shown.insert(headline_gate(c, results));
  std::vector<SideEffect> others;
  for (const GateResult& gate : results.gates)
    if (!shown.contains(&gate)) others.push_back(gate_line(gate));
  return others;
}

Headline headline_for(const Comparison& c, const Results& results) {
  Headline headline{effect_sentence(results.job, c),
                    c.role,
                    c.metric,
                    c.candidate,
                    c.verdict,
                    c.tier,
                    c.has_more(),
                    std::nullopt,
                    {},
                    false,
                    c.reason};
  if (const GateResult* gate = headline_gate(c, results)) {
    headline.outcome = gate->outcome;
    headline.gate = gate->phrase();
    headline.fails = gate->fails();
    if (!gate->reason.empty()) headline.reason = gate->reason;
  }
  return headline;
}

/// The causes of a row that may have changed; of a candidate that died nothing is explained.
std::vector<Cause> explained_causes(const Comparison& row, const Results& results) {
  return row.verdict == Verdict::unchanged || row.is_of_dead() ? std::vector<Cause>()
                                                               : causes_of(results, row);
}

/// Those of the first row that a profile explains, and of a second one that became worse for
/// another cause.
void tell_causes(ReportModel& model, bool became_worse, const std::vector<Cause>& causes) {
  if (causes.empty()) return;
  const bool has_two = !model.causes.empty() && model.causes.front().of != model.causes.back().of;
  const bool is_another = became_worse && !has_two && !repeat(causes, model.causes);
  if (model.causes.empty() || is_another)
    model.causes.insert(model.causes.end(), causes.begin(), causes.end());
}

/// The rows of the first screen, with their sentences and causes.
void show_rows(ReportModel& model) {
  Results& results = model.results;
  results.first_screen.rows = rows_to_show(results);
  for (ShownRow& shown : results.first_screen.rows) {
    const Comparison& row = *results.row(shown.candidate, shown.role, shown.metric);
    model.headlines.push_back(headline_for(row, results));
    model.headlines.back().why = shown.why;
    const std::vector<Cause> causes = explained_causes(row, results);
    for (const Cause& cause : causes)
      shown.causes.push_back({cause.name, cause.memory, cause.function, cause.caller, cause.size,
                              cause.location, cause.share});
    const bool failed = shown.why == ShownFor::failed_gate;
    tell_causes(model, failed || row.verdict == Verdict::regressed, causes);
  }
}

Verdict model_verdict(const Equivalence& e) {
  if (e.bit_identical.value_or(false)) return Verdict::unchanged;
  return Verdict::inconclusive;
}

std::string accuracy_sentence(const Equivalence& e, double baseline, double candidate) {
  return fmt::format("Validation accuracy: {:.2f}% with {}, {:.2f}% with {}.", candidate * 100,
                     e.candidate, baseline * 100, e.baseline);
}

/// A number that the program itself printed or marked.
std::string printed_sentence(const Equivalence& e, const std::string& metric, double baseline,
                             double candidate) {
  return fmt::format("{}: {:.6g} with {}, {:.6g} with {}.", metric, candidate, e.candidate,
                     baseline, e.baseline);
}

/// One sentence for all arms that take the candidate apart, which are many.
std::vector<SideEffect> models_of_ablation(const Results& results) {
  int same = 0;
  int compared = 0;
  std::string others;
  std::string baseline;
  const char* what = "final models";
  for (const Equivalence& e : results.equivalence) {
    if (!is_ablation_arm(results, e.candidate) || !e.bit_identical) continue;
    baseline = e.baseline;
    if (!e.files.empty()) what = "results";
    ++compared;
    if (*e.bit_identical) {
      ++same;
      continue;
    }
    const std::string size =
        e.max_abs_diff ? fmt::format(" (by at most {:.3g})", *e.max_abs_diff) : "";
    others += (others.empty() ? "" : ", ") + e.candidate + size;
  }
  if (compared == 0) return {};
  std::string text = fmt::format("The {} of {} of the ablation's {} arms and {} are bit-identical",
                                 what, same, compared, baseline);
  if (!others.empty()) text += "; different are those of " + others;
  const Verdict verdict = same == compared ? Verdict::unchanged : Verdict::inconclusive;
  return {{Topic::model, text + ".", verdict}};
}

/// The candidates' own, not those of arms that take one apart.
std::vector<const Equivalence*> candidates_of(const std::vector<Equivalence>& all,
                                              const Results& results) {
  std::vector<const Equivalence*> own;
  for (const Equivalence& e : all)
    if (!is_ablation_arm(results, e.candidate)) own.push_back(&e);
  return own;
}

/// One line where all models are the same, else one per candidate.
void tell_models(std::vector<SideEffect>& effects, const std::vector<const Equivalence*>& all) {
  const bool same = all.size() > 1 && std::ranges::all_of(all, [](const auto* e) {
                      return e->files.empty() && e->bit_identical.value_or(false);
                    });
  if (same) {
    effects.push_back(
        {Topic::model,
         fmt::format("The final models of all {} arms are bit-identical.", all.size() + 1),
         Verdict::unchanged});
    return;
  }
  for (const Equivalence* e : all)
    if (const std::string model = model_sentence(*e); !model.empty())
      effects.push_back({Topic::model, model, model_verdict(*e)});
}

void tell_files_and_metrics(std::vector<SideEffect>& effects, const Equivalence& e) {
  for (const FileEquivalence& file : e.files) {
    effects.push_back(
        {Topic::file, file_sentence(e, file),
         file.identical_blocks == file.blocks ? Verdict::unchanged : Verdict::inconclusive});
  }
  for (const auto& [metric, values] : e.metrics) {
    if (is_known_metric(metric)) continue;
    effects.push_back({Topic::accuracy, printed_sentence(e, metric, values.first, values.second),
                       values.first == values.second ? Verdict::unchanged : Verdict::inconclusive});
  }
}

/// One line where every arm reaches the same, else one per candidate.
void tell_accuracy(std::vector<SideEffect>& effects, const std::vector<const Equivalence*>& all) {
  std::set<double> values;
  std::vector<SideEffect> each;
  for (const Equivalence* e : all) {
    const auto accuracy = e->metrics.find(kValidationAccuracy);
    if (accuracy == e->metrics.end()) continue;
    const auto [baseline, candidate] = accuracy->second;
    values.insert({baseline, candidate});
    each.push_back({Topic::accuracy, accuracy_sentence(*e, baseline, candidate),
                    baseline == candidate ? Verdict::unchanged : Verdict::inconclusive});
  }
  if (each.size() > 1 && each.size() == all.size() && values.size() == 1)
    each = {{Topic::accuracy,
             fmt::format("Validation accuracy: {:.2f}% with every arm.", *values.begin() * 100),
             Verdict::unchanged}};
  effects.insert(effects.end(), each.begin(), each.end());
}

std::vector<SideEffect> side_effects(const Results& results, const CandidateOrder& order) {
  std::vector<SideEffect> effects = models_of_ablation(results);
  const std::vector<const Equivalence*> candidates = candidates_of(results.equivalence, results);
  tell_models(effects, candidates);
  for (const Equivalence* e : candidates) tell_files_and_metrics(effects, *e);
  tell_accuracy(effects, candidates);
  std::vector<const Comparison*> times;
  for (const ArmSummary& arm : results.arms)
    if (const Comparison* row = time_row(results, arm.name); row != nullptr && !row->is_of_dead())
      times.push_back(row);
  std::ranges::stable_sort(times, [&](const Comparison* a, const Comparison* b) {
    return order.rank(a->candidate) < order.rank(b->candidate);
  });
  for (const Comparison* row : times)
    effects.push_back({Topic::time, effect_sentence(results.job, *row).text() + ".", row->verdict});
  return effects;
}

/// Measure blocks that hold every arm.
int count_blocks(const RunData& run, size_t arms) {
  std::map<int, std::set<std::string>> seen;
  for (const TrialData& trial : run.trials)
    if (trial.kind == TrialKind::measure) seen[trial.block].insert(trial.arm);
  return static_cast<int>(std::ranges::count_if(seen, [arms](const auto& block) {
    return block.second.size() >= std::max<size_t>(arms, 1);
  }));
}

/// Charts of thirty arms show nothing; the ablation has its own tables.
RunData without_ablation_arms(RunData run, const Results& results) {
  std::erase_if(run.trials,
                [&](const TrialData& trial) { return is_ablation_arm(results, trial.arm); });
  return run;
}

/// A run whose programs are not there any more says itself how they come back.
std::string reproduce_command(const nlohmann::json& environment,
                              const std::filesystem::path& directory) {
  const std::string config =
      directory.empty()
          ? kRunAgain
          : quoted_command_line({"memduel", "run", (directory / kConfigFile).string()});
  return environment.is_object() ? environment.value("reproduce", config) : config;
}

/// The block that a running run has to reach before it may say anything; 0: it has looked at all.
int next_look(const std::vector<int>& looks, int done) {
  const auto next = std::ranges::find_if(looks, [done](int l) { return l > done; });
  return next == looks.end() ? 0 : *next;
}

std::string progress_of(const ReportModel& model, const std::optional<std::vector<int>>& running) {
  if (running && !running->empty()) {
    const int next = next_look(*running, model.blocks_done);
    const char* most = running->size() > 1 ? "at most " : "";
    std::string text = fmt::format("The run is still going: {} of {}{}", model.blocks_done, most,
                                   format_count(running->back(), "block"));
    return next == 0 ? text + "." : fmt::format("{}; no verdict before block {}.", text, next);
  }
  if (!model.blocks_planned || model.blocks_done >= *model.blocks_planned) return {};
  return fmt::format("The run ended after {} of {}.", model.blocks_done,
                     format_count(*model.blocks_planned, "block"));
}

}  // namespace

ReportModel build_report_model(const Results& analysed, const RunData& run,
                               const ReportOptions& options) {
  ReportModel model;
  model.title = analysed.name.empty() ? "memduel" : analysed.name;
  model.results = analysed;
  if (options.confidential) leave_out_printed_lines(model.results);
  model.config = run.config;
  model.directory = options.directory;
  model.blocks_done = count_blocks(run, analysed.arms.size());
  model.blocks_planned = run.config.measure.repeats;
  model.progress = progress_of(model, options.running);
  const Results& results = model.results;
  model.lower_bounds = lower_bound_sentences(results);
  model.ablation = ablation_sentences(results);
  show_rows(model);
  const CandidateOrder order(results);
  model.best = best_sentence(results);
  model.side_effects = other_gates(results);
  tell_growth(model);
  if (const std::string allocators = allocator_sentence(results.arms); !allocators.empty())
    model.side_effects.push_back({Topic::allocator, allocators, Verdict::unchanged});
  for (SideEffect& effect : side_effects(results, order))
    model.side_effects.push_back(std::move(effect));
  model.growth_lines = growth_lines(model.results);
  model.differences = difference_tables(results);
  model.memory_balances = memory_balances(results);
  model.resident = resident_tables(results);
  model.part_peaks = part_peaks(results);
  model.timelines = results.ablation.empty() ? build_timelines(run, options.bucket_budget)
                                             : build_timelines(without_ablation_arms(run, results),
                                                               options.bucket_budget);
  model.profiles =
      list_profiles(results, options.profiles,
                    options.confidential ? std::filesystem::path() : options.directory);
  model.reproduce = reproduce_command(results.environment, model.directory);
  model.confidential = options.confidential;
  model.overall = overall_sentence(model);
  if (options.confidential) make_confidential(model);
  model.compared = compared_arms(model);
  model.setting = setting_words(model);
  if (!options.confidential) model.next_step = next_step(model);
  model.results.first_screen.next_step = model.next_step;
  return model;
}

}  // namespace memduel
