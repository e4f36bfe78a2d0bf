#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "artifacts.h"
#include "findings.h"
#include "model/run_directory.h"
#include "trial/trial_plan.h"
#include "util/text.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// The text up to `end`, which goes from the rest together with it.
std::string_view take(std::string_view& rest, char end) {
  const std::string_view taken = rest.substr(0, rest.find(end));
  rest.remove_prefix(std::min(taken.size() + 1, rest.size()));
  return taken;
}

bool equal_but_for_paths(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    const std::string_view of_a = take(a, ' ');
    const std::string_view of_b = take(b, ' ');
    const auto is_path = [](std::string_view word) {
      return word.find('/') != std::string_view::npos;
    };
    if (of_a != of_b && !(is_path(of_a) && is_path(of_b))) return false;
  }
  return a.empty() && b.empty();
}

std::string shortened(std::string_view line) {
  constexpr std::size_t kMostCharacters = 120;
  std::string text;
  std::size_t characters = 0;
  for_each_character(line, [&](std::string_view character, std::uint32_t /*code_point*/) {
    if (characters++ < kMostCharacters) text += character;
  });
  return characters > kMostCharacters ? text + "…" : text;
}

/// The lines of what the trials of one arm left, as long as each has as many.
class CommonLines {
 public:
  void add(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) lines.push_back(take(text, '\n'));
    if (texts_++ == 0) {
      for (const std::string_view line : lines) lines_.push_back({std::string(line), false});
      return;
    }
    if (lines.size() != lines_.size()) agree_ = false;
    for (std::size_t i = 0; agree_ && i < lines.size(); ++i)
      if (!equal_but_for_paths(lines_[i].text, lines[i])) lines_[i].varies = true;
  }

  struct Line {
    std::string text;  ///< of the first trial
    bool varies = false;
  };

  /// Absent where the texts have no common number of lines, or there are none.
  [[nodiscard]] const std::vector<Line>* lines() const {
    return texts_ > 0 && agree_ ? &lines_ : nullptr;
  }

 private:
  std::vector<Line> lines_;
  int texts_ = 0;
  bool agree_ = true;
};

/// Nothing of what is no text, or too large to be read line by line.
std::optional<std::string> readable_text(const fs::path& file) {
  std::optional<std::string> text = printed_text(file);
  if (text && text->find('\0') != std::string::npos) text.reset();
  return text;
}

/// What the only process of a trial printed; absent where its log is gone.
std::optional<std::string> printed_in(const TrialData& trial, const fs::path& directory) {
  const TrialLogs logs{directory / kLogsFolder, trial.id};
  for (const RoleData& role : trial.roles)
    if (auto text = readable_text(logs.file(role.role, "stdout"))) return text;
  return std::nullopt;
}

/// What a trial left, printed or as a file.
std::optional<std::string> left_by(const TrialData& trial, const std::string& file,
                                   const fs::path& directory) {
  const auto found = trial.files.find(file);
  if (found == trial.files.end()) return std::nullopt;
  if (file == kStandardOutput) return printed_in(trial, directory);
  const std::string stem = kept_file_stem(file, found->second);
  std::error_code absent;
  for (const auto& kept : fs::directory_iterator(directory / kFilesFolder, absent))
    if (kept.path().filename().string().starts_with(stem)) return readable_text(kept.path());
  return std::nullopt;
}

CommonLines common_lines(const RunData& run, const std::string& arm, const std::string& file,
                         const fs::path& directory) {
  CommonLines lines;
  for (const TrialData& trial : run.trials)
    if (trial.arm == arm && trial.counts())
      if (const auto text = left_by(trial, file, directory)) lines.add(*text);
  return lines;
}

/// Line by line, where every trial of both arms has as many.
void compare_lines(FileEquivalence& file, const CommonLines& baseline,
                   const CommonLines& candidate) {
  constexpr std::size_t kMostNamed = 3;
  const auto* a = baseline.lines();
  const auto* b = candidate.lines();
  if (a == nullptr || b == nullptr || a->size() != b->size()) return;
  Variation& variation = *file.variation;
  variation.lines = static_cast<int>(a->size());
  for (std::size_t i = 0; i < a->size(); ++i) {
    const int number = static_cast<int>(i) + 1;
    const auto& of_a = a->at(i);
    const auto& of_b = b->at(i);
    if (of_a.varies || of_b.varies) {
      ++variation.varying_lines;
      if (variation.first_varying.size() < kMostNamed) variation.first_varying.push_back(number);
    } else if (!equal_but_for_paths(of_a.text, of_b.text)) {
      if (variation.differing_lines++ == 0)
        file.first_difference = LineDifference{number, shortened(of_a.text), shortened(of_b.text)};
    }
  }
}

const TrialData* in_block(const RunData& run, const std::string& arm, int block) {
  const auto found = std::ranges::find_if(run.trials, [&](const TrialData& trial) {
    return trial.arm == arm && trial.block == block && trial.counts();
  });
  return found == run.trials.end() ? nullptr : &*found;
}

std::optional<LineDifference> printed_difference(const RunData& run, const Equivalence& compared,
                                                 const fs::path& directory) {
  for (const TrialData& trial : run.trials) {
    if (trial.arm != compared.candidate || !trial.counts()) continue;
    const TrialData* other = in_block(run, compared.baseline, trial.block);
    if (other == nullptr) continue;
    const auto a = printed_in(*other, directory);
    const auto b = printed_in(trial, directory);
    if (!a || !b) continue;
    if (auto found = first_difference(*a, *b)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<LineDifference> first_difference(std::string_view baseline,
                                               std::string_view candidate) {
  for (int line = 1; !baseline.empty() || !candidate.empty(); ++line) {
    const std::string_view of_a = take(baseline, '\n');
    const std::string_view of_b = take(candidate, '\n');
    if (!equal_but_for_paths(of_a, of_b))
      return LineDifference{line, shortened(of_a), shortened(of_b)};
  }
  return std::nullopt;
}

void add_printed_differences(Results& results, const RunData& run, const fs::path& directory) {
  for (Equivalence& compared : results.equivalence) {
    for (FileEquivalence& file : compared.files) {
      if (file.variation) {
        compare_lines(file, common_lines(run, compared.baseline, file.file, directory),
                      common_lines(run, compared.candidate, file.file, directory));
        if (file.variation->differing_lines > 0) compared.bit_identical = false;
      } else if (file.file == kStandardOutput && file.identical_blocks < file.blocks) {
        file.first_difference = printed_difference(run, compared, directory);
      }
    }
  }
}

}  // namespace memduel
