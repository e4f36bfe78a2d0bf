#include "memray.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <set>

#include "dump_format.h"
#include "external/preloaded.h"
#include "external/python_programs.h"
#include "left_files.h"
#include "util/process.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// sitecustomize.py links it to the interpreter of a capture.
constexpr const char* kInterpreterLink = ".python";
/// And writes its sys.path.
constexpr const char* kModulePath = ".path";

fs::path scripts() {
  return library_beside_programs("memray");
}

/// What sitecustomize.py left beside the capture; a forked child has its parent's.
fs::path beside(const fs::path& capture, const char* extension) {
  const std::string name = capture.filename().string();
  return capture.parent_path() / (name.substr(0, name.find('.')) + extension);
}

fs::path interpreter_that_wrote(const fs::path& capture) {
  std::error_code none;
  return fs::read_symlink(beside(capture, kInterpreterLink), none);
}

/// Where that Python looks for modules.
std::string module_path_of(const fs::path& capture) {
  std::ifstream file(beside(capture, kModulePath));
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_of_forked_child(const LeftFile& left) {
  return left.file.filename().string().find('.') != std::string::npos;
}

/// Without forked children that executed Python, whose own captures have what they did.
std::vector<LeftFile> captures_in(const fs::path& directory) {
  std::vector<LeftFile> captures = left_files(directory);
  std::set<std::int64_t> started;
  for (const LeftFile& left : captures)
    if (!is_of_forked_child(left)) started.insert(left.of.pid);
  std::erase_if(captures, [&](const LeftFile& left) {
    return is_of_forked_child(left) && started.contains(left.of.pid);
  });
  for (std::size_t i = 0; i < captures.size(); ++i) captures[i].of.image = i + 1;
  return captures;
}

/// Python's traceback ends with the error.
std::string last_line(const std::string& text) {
  const std::string trimmed = without_line_end(text);
  return trimmed.substr(trimmed.rfind('\n') + 1);
}

/// Of processes that left no capture, once for each interpreter.
std::vector<std::string> interpreters_without_memray(const fs::path& directory) {
  std::set<std::string> interpreters;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none)) {
    const fs::path link = entry.path();
    if (link.extension() == kInterpreterLink && !fs::exists(fs::path(link).replace_extension()))
      interpreters.insert(fs::read_symlink(link, none).string());
  }
  std::vector<std::string> missing;
  for (const std::string& interpreter : interpreters)
    missing.push_back(
        fmt::format("processes of {} were not recorded: memray is not installed there; {}",
                    interpreter, command_to_install("memray", interpreter)));
  return missing;
}

}  // namespace

Availability memray_scripts_work() {
  const fs::path start = scripts() / "sitecustomize.py";
  if (fs::exists(start)) return {true, {}};
  return {false, start.string() + " is missing; build the target memduel"};
}

EnvironmentVariables memray_variables(const fs::path& directory,
                                      const EnvironmentVariables& environment,
                                      const TracerOptions& /*options*/) {
  const std::string others = value_in(environment, "PYTHONPATH");
  return {{"PYTHONPATH", scripts().string() + (others.empty() ? "" : ":" + others)},
          {kDumpedTool, "memray"},
          {kDumpDirectory, directory.string()}};
}

KeptProfiles keep_captures(const fs::path& directory, const ProfileNaming& file_of) {
  KeptProfiles kept;
  kept.missing = interpreters_without_memray(directory);
  for (const LeftFile& left : captures_in(directory)) {
    const fs::path json = left.file.string() + ".json";
    HelperOptions options;
    options.within_seconds = std::nullopt;  // a capture may have hundreds of millions of records
    options.environment["PYTHONPATH"] = module_path_of(left.file);
    const HelperResult read =
        run_helper({interpreter_that_wrote(left.file).string(),
                    (scripts() / "read_capture.py").string(), left.file.string(), json.string()},
                   options);
    if (read.exit_status != 0) {
      kept.missing.push_back(fmt::format("memray cannot read its capture of process {}: {}",
                                         left.of.pid, last_line(read.err)));
      continue;
    }
    const fs::path file = file_of(left.of);
    move_file(json, file);
    kept.files.push_back({left.of, file});
  }
  if (kept.files.empty() && kept.missing.empty())
    kept.missing.emplace_back(
        "left no profile: it started no Python, or one that ignores PYTHONPATH (python -E, -I, "
        "-S)");
  return kept;
}

}  // namespace memduel
