// The checks of a document for the services that list them: GitHub annotations and JUnit XML.

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "escape.h"
#include "reports/text_formats.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel {
namespace {

std::string_view word_of(Check::Status status) {
  switch (status) {
    case Check::Status::passed:
      return "passed";
    case Check::Status::failed:
      return "failed";
    case Check::Status::inconclusive:
      return "inconclusive";
    case Check::Status::not_measured:
      break;
  }
  return "not measured";
}

/// An error makes the job's page red, as the exit code makes the job.
const char* command_for(const Check& check) {
  if (check.exit_code != 0) return "error";
  return check.advisory || check.status == Check::Status::passed ? "notice" : "warning";
}

/// The runner's own escapes: % and line ends everywhere, : and , in properties.
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : valid_utf8(std::string(text))) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    out += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return out;
}

std::string annotation(const char* command, const std::string& place, const std::string& title,
                       const std::string& message) {
  return fmt::format("::{} {}title={}::{}\n", command, place, escaped("memduel: " + title, true),
                     escaped(message, false));
}

}  // namespace

std::string render_github(const ReportDocument& document) {
  std::string out = annotation("notice", "", std::string(to_name(document.answer)),
                               document.sentence.plain() + " " + document.exit.plain());
  for (const Check& check : document.checks) {
    const std::string place =
        check.line > 0 ? fmt::format("file={},line={},", escaped(check.file, true), check.line)
                       : "";
    const std::string title =
        fmt::format("{}gate {}", check.advisory ? "advisory " : "", word_of(check.status));
    const std::string about =
        check.variant.empty() ? check.name : fmt::format("{} ({})", check.name, check.variant);
    out += annotation(command_for(check), place, title, about + ": " + check.message);
  }
  return out;
}

namespace {

/// A test fails, or cannot run, where its gate makes memduel's exit code so.
std::string_view element_of(const Check& check) {
  const auto exit = static_cast<ExitCode>(check.exit_code);
  if (exit == ExitCode::gate_failed || exit == ExitCode::inconclusive) return "failure";
  if (exit == ExitCode::cannot_measure) return "error";
  return check.status == Check::Status::passed ? "" : "skipped";
}

std::string message_of(const Check& check) {
  const char* kind = check.advisory ? "advisory: " : "";
  const char* outcome = check.status == Check::Status::inconclusive ? "inconclusive: " : "";
  return kind + (outcome + check.message);
}

std::string test_case(const Check& check) {
  const std::string name = check.variant.empty() ? "memduel" : "memduel." + check.variant;
  const std::string open = fmt::format(R"(  <testcase classname="{}" name="{}")",
                                       escape_markup(name), escape_markup(check.name));
  const std::string_view element = element_of(check);
  if (element.empty()) return open + "/>\n";
  return fmt::format("{}>\n    <{} message=\"{}\"/>\n  </testcase>\n", open, element,
                     escape_markup(message_of(check)));
}

}  // namespace

std::string render_junit(const ReportDocument& document) {
  const auto count = [&](std::string_view element) {
    return std::ranges::count_if(
        document.checks, [element](const Check& check) { return element_of(check) == element; });
  };
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format(
      "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
      escape_markup(document.name), document.checks.size(), count("failure"), count("error"),
      count("skipped"));
  for (const Check& check : document.checks) out += test_case(check);
  return out + "</testsuite>\n";
}

}  // namespace memduel
