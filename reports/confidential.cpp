#include "confidential.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace memduel {
namespace {

/// Keys whose whole value is an argument, an environment value or a path.
bool is_private_key(std::string_view key) {
  constexpr std::array kKeys = {
      "argv",      "append",    "args", "command",  "cwd",      "env",       "prepare", "cleanup",
      "path",      "from",      "to",   "data_dir", "build",    "pattern",   "files",   "hostname",
      "reproduce", "templates", "user", "provider", "programs", "directory", "subjects"};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

/// Of logs, which may show what a program prints.
std::vector<std::string> patterns_of(const Job& job) {
  std::vector<std::string> patterns;
  for (const TextMarkSpec& mark : job.marks) patterns.push_back(mark.pattern);
  for (const RoleMatch& match : job.match) patterns.push_back(match.pattern);
  return patterns;
}

/// Of a place in the source: as function names in Python have it.
std::string without_directories(const std::string& location) {
  return location.substr(location.rfind('/') + 1);
}

void redact_notes(std::vector<Note>& notes, const std::vector<std::string>& patterns) {
  for (Note& note : notes) {
    for (const std::string& pattern : patterns)
      for (std::string* text : {&note.message, &note.advice})
        if (const std::size_t at = text->find(pattern); at != std::string::npos)
          text->replace(at, pattern.size(), kLeftOut);
    // What a program printed comes after these words.
    note.message = without_paths(note.message.substr(0, note.message.find("; the first")));
    // A command stands on a line of its own, and has arguments.
    note.advice = without_paths(note.advice.substr(0, note.advice.find('\n')));
  }
}

}  // namespace

void redact(nlohmann::json& value) {
  if (value.is_string()) {
    value = without_paths(value.get<std::string>());
  } else if (value.is_array()) {
    for (nlohmann::json& item : value) redact(item);
  } else if (value.is_object()) {
    for (auto& [key, item] : value.items()) {
      if (is_private_key(key) && !item.empty())
        item = kLeftOut;
      else
        redact(item);
    }
  }
}

std::string without_paths(const std::string& text) {
  constexpr std::string_view kEnds = " \t\r\n'\",:;()[]{}<>=|";
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(text.find_first_of(kEnds, i), text.size());
    const std::string_view token = std::string_view(text).substr(i, end - i);
    const bool is_path = token.size() > 1 && (token.starts_with("/") || token.starts_with("~/") ||
                                              token.starts_with("./") || token.starts_with("../"));
    out += is_path ? std::string_view("(path)") : token;
    if (end < text.size()) out += text[end];
    i = end + 1;
  }
  return out;
}

void leave_out_printed_lines(Results& results) {
  std::string& nothing = results.overall.nothing;
  nothing = without_paths(nothing.substr(0, nothing.find("; the first: ")));
  for (Difference& row : results.differences) row.location = without_directories(row.location);
  for (Growth& row : results.growth)
    for (GrowingStack& stack : row.stacks) stack.location = without_directories(stack.location);
  for (Equivalence& equivalence : results.equivalence)
    for (FileEquivalence& file : equivalence.files) file.first_difference.reset();
}

void make_confidential(ReportModel& model) {
  model.reproduce = kRunAgain;  // another may be a command's arguments
  const std::vector<std::string> patterns = patterns_of(model.config.workload.job);
  redact(model.results.environment);
  redact_notes(model.results.limitations, patterns);
  redact_notes(model.results.warnings, patterns);
  for (ArmSummary& arm : model.results.arms) {
    redact(arm.optimizations);
    for (std::string& library : arm.allocator_libraries) library = without_paths(library);
  }
  for (TrialData& trial : model.results.trials) {
    if (!trial.failure.empty()) trial.failure = kLeftOut;
    for (auto& [role, library] : trial.allocators) library = without_paths(library);
  }
}

}  // namespace memduel
