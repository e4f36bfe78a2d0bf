#include "worker_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "util/error.h"

namespace memduel {
namespace {

constexpr const char* kRoleNeeds = "a role needs --role and --config";

constexpr std::string_view kRoles[] = {"server", "client", "simulator", "trainer", "graphs"};

[[noreturn]] void refuse_words(const std::string& what) {
  throw Error(ExitCode::usage, what, "command line", "memduel-worker --help");
}

class Words {
 public:
  explicit Words(const std::vector<std::string>& words) : words_(words) {}

  [[nodiscard]] bool any() const { return next_ < words_.size(); }
  std::string take() { return words_[next_++]; }
  std::string value_of(const std::string& option) {
    if (!any()) refuse_words(option + " needs a value");
    return take();
  }
  void expect_no_more() const {
    if (any()) refuse_words(fmt::format("expected no more arguments, found \"{}\"", words_[next_]));
  }

 private:
  const std::vector<std::string>& words_;
  std::size_t next_ = 0;
};

int number_from(const std::string& option, const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    refuse_words(fmt::format("expected a whole number for {}, found \"{}\"", option, text));
  return value;
}

void read_comparison(Words& words, WorkerArguments& arguments) {
  arguments.task = WorkerTask::compare_models;
  arguments.model_a = words.value_of("compare-models");
  arguments.model_b = words.value_of("compare-models");
}

void read_description(Words& words, WorkerArguments& arguments) {
  arguments.task = WorkerTask::describe;
  if (!words.any()) return;
  const std::string option = words.take();
  if (option != "--workload")
    refuse_words(fmt::format("expected --workload, found \"{}\"", option));
  arguments.workload = words.value_of(option);
}

void read_probe(Words& words, WorkerArguments& arguments) {
  arguments.task = WorkerTask::probe;
  const std::string option = words.value_of("probe");
  if (option != "--request") refuse_words(fmt::format("expected --request, found \"{}\"", option));
  arguments.request = words.value_of(option);
}

void read_role(Words& words, std::string option, WorkerArguments& arguments) {
  for (;; option = words.take()) {
    if (option == "--role")
      arguments.role = words.value_of(option);
    else if (option == "--index")
      arguments.index = number_from(option, words.value_of(option));
    else if (option == "--config")
      arguments.config = words.value_of(option);
    else
      refuse_words(
          fmt::format("expected --role, --index, --config, compare-models, describe, probe or "
                      "--help, found \"{}\"",
                      option));
    if (!words.any()) break;
  }
  if (arguments.role.empty() || arguments.config.empty()) refuse_words(kRoleNeeds);
  if (std::find(std::begin(kRoles), std::end(kRoles), arguments.role) == std::end(kRoles))
    refuse_words(
        fmt::format("expected role {}, found \"{}\"", fmt::join(kRoles, ", "), arguments.role));
}

}  // namespace

WorkerArguments parse_worker_arguments(const std::vector<std::string>& all) {
  Words words(all);
  if (!words.any()) refuse_words(kRoleNeeds);
  WorkerArguments arguments;
  const std::string first = words.take();
  if (first == "--help" || first == "-h")
    arguments.task = WorkerTask::help;
  else if (first == "compare-models")
    read_comparison(words, arguments);
  else if (first == "describe")
    read_description(words, arguments);
  else if (first == "probe")
    read_probe(words, arguments);
  else
    read_role(words, first, arguments);
  words.expect_no_more();
  return arguments;
}

}  // namespace memduel
