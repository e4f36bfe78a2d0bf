// How reports write one row: its name, its change, its interval, and whole sentences about output.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/report_document.h"
#include "reports/report_model.h"
#include "verdict/results.h"

namespace memduel {

/// Whether the job is one role, so that its name adds nothing to a row's.
bool is_only_role(const JobFacts& job, const std::string& role);

/// A row's name: "server peak RSS above start-up"; without the role where the job is one role.
std::string quantity(const JobFacts& job, const std::string& role, const std::string& metric);

/// A metric's name without its role: "peak RSS"; of a job of one round "wall time" and "RSS at the
/// end".
std::string metric_words(const JobFacts& job, const std::string& metric);

/// A value in its unit, with the reports' minus sign; "–" where it is absent. Without "/round",
/// which the metric's name states.
std::string value_text(const std::string& metric, std::optional<double> value);

/// The same in the unit that suits `reference`, so that the values of a row can be compared by eye.
std::string value_text_like(const std::string& metric, std::optional<double> value,
                            double reference);

/// The value without rounding: "86,609,920 bytes".
std::string exact_text(const std::string& metric, std::optional<double> value);

/// A difference with its sign: "−12.0 KiB", "+1.5 s".
std::string signed_metric(const std::string& metric, double value);

/// A ratio as a change: "−83%", "+3.4%", "0%", and from 2 on "3.4×".
std::string ratio_text(double ratio);

/// Whether a ratio is written as a factor, "2.0×", and not as a percentage.
bool is_factor(double ratio);

/// The limit of a gate: "+2%", "+1.00 MiB", "200.0 MiB"; empty where it has none.
std::string limit_text(const GateResult& gate);

/// The change that reports show: of the medians beside it, so that readers can check it; the
/// estimate where that of the medians lies outside of the confidence interval. A ratio where the
/// row has one, else a difference.
std::optional<double> shown_change(const Comparison& row);

/// Whether shown_change() is the change of the medians.
bool is_change_of_medians(const Comparison& row);

/// "−83%", "+1.2 MiB"; "–" where nothing was compared.
std::string change_text(const Comparison& row);

/// Of a row's interval over all interim analyses of its run: each of them has a part of the error
/// rate of 5%, so that its own level is higher. 0.9 where equivalence was shown.
double overall_confidence(const Comparison& row);

/// "−84 to −82%", "same each trial" of one without variation, with the overall level where it is
/// not 95%; "–" without one.
std::string interval_text(const Comparison& row);

/// "82.6 → 14.2 MiB"; empty where one median is missing.
std::string medians_text(const Comparison& row);

/// "82.6 → 14.2 MiB" of two values with their units.
std::string values_text(std::string from, const std::string& to);

/// With an upper-case first letter.
std::string capitalized(std::string text);

/// "peak RSS: −83% (82.6 → 14.2 MiB, 95% CI −84 to −82%, 8 trials each)".
std::string effect_text(const JobFacts& job, const Comparison& row);

/// "83% less", "3.4× as much", "12 fewer"; "the same" where nothing changed.
std::string amount_words(const Comparison& row);

/// Whether the interval of a ratio excludes no change.
bool is_some_change(const Comparison& row);

/// "between 5.0% less and 6.0% more", "1.0 to 6.0% more", "2.1× to 2.9× as much": a row's interval;
/// empty where it has none or is no ratio.
std::string amount_of_interval(const Comparison& row);

Tone tone_of(Verdict verdict);

/// With the minus sign that the reports write before numbers: "-2.5% to +1%" is "−2.5% to +1%";
/// hyphens in names stay.
std::string with_minus(std::string_view text);

/// "reaches the 24.0 GiB memory limit in round 31 (30–33), 62 min 30 s after the first began".
std::string projection_words(const Projection& to);

/// "The final models of b and a are bit-identical."; empty when nothing was compared.
std::string model_sentence(const Equivalence& equivalence);

/// "out.txt is byte-identical with b and a in all 8 trials."
std::string file_sentence(const Equivalence& equivalence, const FileEquivalence& file);

/// "Allocators found in the processes: a used jemalloc (libjemalloc.so.2)."; empty when no variant
/// names one.
std::string allocator_sentence(const std::vector<ArmSummary>& arms);

/// "a, b and c".
std::string join_with_and(const std::vector<std::string>& parts);

/// A name of the data as words: "leveling off" of "leveling_off".
std::string with_spaces(std::string_view name);

/// Whether the run fails because nothing could be compared, and no gate states it.
bool is_told_by_no_gate(const Results& results);

/// The variants that are no part of an ablation, the baseline first.
std::vector<const ArmSummary*> judged_arms(const Results& results);

}  // namespace memduel
