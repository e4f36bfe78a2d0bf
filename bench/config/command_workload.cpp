#include "command_workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "config/document.h"
#include "config/placeholders.h"
#include "trial/marks.h"
#include "trial/trial_plan.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel {
namespace {

JsonPath below(JsonPath path, const std::string& step) {
  path.push_back(step);
  return path;
}

JsonPath below(JsonPath path, std::size_t index) {
  path.push_back(std::to_string(index));
  return path;
}

JsonPath in_workload(const char* key) {
  return {"workload", key};
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

void refuse_outside_trial(const std::string& file, const std::string& place,
                          const std::string& why) {
  const auto normal = std::filesystem::path(file).lexically_normal().string();
  if (normal.starts_with("{trial_dir}/") && !normal.ends_with("/")) return;
  throw Error(ExitCode::usage,
              fmt::format("found \"{}\", expected a file below {{trial_dir}}", file), place, why);
}

void resolve_templates(std::vector<JobTemplate>& templates, const std::filesystem::path& directory,
                       const JsonPath& path, const Places& places) {
  for (std::size_t i = 0; i < templates.size(); ++i) {
    JobTemplate& each = templates[i];
    const JsonPath at = below(path, i);
    refuse_outside_trial(each.to, places.at(below(at, "to")),
                         "a copy belongs to one trial and goes with it");
    if (each.from.has_value() == each.json.has_value())
      throw Error(ExitCode::usage,
                  each.from ? "found \"from\" and \"json\", expected one of them"
                            : "found neither \"from\" nor \"json\", expected one of them",
                  places.at(at));
    if (each.from) each.from = resolve_path(*each.from, directory);
  }
}

/// Calls `visit` with each declaration and its place.
void each_declaration(const Job& job,
                      const std::function<void(const DeclaredDirection&, const JsonPath&)>& visit) {
  for (const auto& [name, metric] : job.metrics)
    visit({name, metric.better}, below(below(in_workload("metrics"), name), "better"));
  for (std::size_t i = 0; i < job.marks.size(); ++i) {
    const TextMarkPattern pattern(job.marks[i].pattern);
    for (const DeclaredDirection& one : pattern.metrics())
      visit(one, below(below(in_workload("marks"), i), "pattern"));
  }
}

/// The checks of one job, each of which names the place of what it refuses.
class JobRules {
 public:
  JobRules(Job& job, const std::filesystem::path& directory, const Places& places)
      : job_(job), directory_(directory), places_(places) {}

  void apply() {
    job_.cwd = resolve_path(job_.cwd.empty() ? "." : job_.cwd, directory_);
    for (std::size_t i = 0; i < job_.processes.size(); ++i)
      apply_to(job_.processes[i], below(in_workload("processes"), i));
    check_that_it_ends();
    check_reference();
    check_matches();
    check_marks();
    check_declared_metrics();
    check_groups();
    check_files();
  }

 private:
  [[noreturn]] void refuse(const JsonPath& path, const std::string& what,
                           const std::string& advice = "") const {
    throw Error(ExitCode::usage, what, places_.at(path), advice);
  }

  void apply_to(JobProcess& process, const JsonPath& path) {
    std::vector<std::string> roles = process.roles();
    if (process.count) roles.push_back(process.role);
    for (const std::string& role : roles) {
      check_role(role, below(path, "role"));
      taken_.push_back(role);
    }
    for (const std::string& role : process.after)
      if (!contains(names_, role))
        refuse(below(path, "after"), fmt::format("found \"{}\", expected an earlier role", role),
               nearest_advice(role, names_));
    if (process.ready) apply_to(*process.ready, below(path, "ready"));
    refuse_bad_environment(process.env, below(path, "env"), places_);
    names_.push_back(process.role);
    process.cwd = process.cwd.empty() ? job_.cwd : resolve_path(process.cwd, directory_);
  }

  void apply_to(JobReady& ready, const JsonPath& path) const {
    const int conditions =
        (ready.port || ready.port_name ? 1 : 0) + (ready.log ? 1 : 0) + (ready.file ? 1 : 0);
    if (conditions > 1) refuse(path, "found several conditions, expected one of port, log, file");
    if (ready.log) check_pattern(*ready.log, below(path, "log"));
    if (ready.file) ready.file = resolve_path(*ready.file, directory_);
  }

  void check_role(const std::string& role, const JsonPath& path) const {
    if (role == kTree) refuse(path, "found \"all\", which memduel uses for all processes together");
    if (contains(taken_, role))
      refuse(path, fmt::format("found \"{}\" twice", role),
             "give each process its own role, or one process a count");
  }

  void check_pattern(const std::string& pattern, const JsonPath& path) const {
    try {
      LogPattern{pattern};
    } catch (const Error& error) {
      refuse(path, error.what());
    }
  }

  void check_that_it_ends() const {
    const bool ends = std::ranges::any_of(
        job_.processes, [](const JobProcess& process) { return process.end == End::wait; });
    if (!ends && !job_.stop_after_round)
      refuse(in_workload("processes"),
             "found \"end\": \"stop\" in all of them: nothing ends a trial", kGiveATrialAnEnd);
  }

  /// The role whose rounds others may take has to be there, and to have some.
  void check_reference() const {
    auto reference = job_.processes.begin();
    if (job_.reference) {
      reference = std::ranges::find(job_.processes, *job_.reference, &JobProcess::role);
      if (reference == job_.processes.end())
        refuse(in_workload("reference"), not_a_role(*job_.reference, names_),
               nearest_advice(*job_.reference, names_));
    }
    if (!reference->takes_rounds) return;
    const auto index = static_cast<std::size_t>(reference - job_.processes.begin());
    refuse(below(below(in_workload("processes"), index), "rounds"),
           fmt::format("found \"reference\", but {} is the role whose rounds the others take",
                       reference->role),
           "leave it out here");
  }

  /// A matched role may have several patterns, but a process has its role from the config alone.
  void check_matches() {
    for (std::size_t i = 0; i < job_.match.size(); ++i) {
      const JsonPath path = below(in_workload("match"), i);
      check_role(job_.match[i].role, below(path, "role"));
      check_pattern(job_.match[i].pattern, below(path, "pattern"));
    }
    for (const RoleMatch& match : job_.match) matched_.push_back(match.role);
  }

  void check_marks() const {
    for (std::size_t i = 0; i < job_.marks.size(); ++i)
      check_mark(job_.marks[i], below(in_workload("marks"), i));
  }

  void check_mark(TextMarkSpec& mark, const JsonPath& path) const {
    using From = TextMarkSpec::From;
    const std::string file = mark.file.string();
    if (mark.from == From::file && !file.starts_with('/') && !file.starts_with("{trial_dir}"))
      mark.file = "{trial_dir}/" + file;
    // Descendants write to the streams of the process that memduel started.
    if (contains(matched_, mark.role) && mark.from != From::file) {
      const char* stream = mark.from == From::standard_error ? "stderr" : "stdout";
      refuse(below(path, "from"), fmt::format("found \"{}\", expected {{\"file\": PATH}}", stream),
             fmt::format("{} is matched among the descendants of other roles and has no {} of its "
                         "own",
                         mark.role, stream));
    }
    std::vector<std::string> roles;
    for (const JobProcess& process : job_.processes) {
      roles.push_back(process.role);
      if (!process.count) continue;
      for (const std::string& role : process.roles()) roles.push_back(role);
    }
    if (!contains(matched_, mark.role) && !contains(roles, mark.role))
      refuse(below(path, "role"), not_a_role(mark.role, roles), nearest_advice(mark.role, roles));
    try {
      const TextMarkPattern pattern(mark.pattern);
    } catch (const Error& error) {
      refuse(below(path, "pattern"), error.what(), error.advice());
    }
  }

  /// Refuses a declaration that contradicts another one, or the table of metrics.
  void check_declared_metrics() const {
    struct Known {
      Direction better;
      std::string by;
    };
    std::map<std::string, Known> known;
    each_declaration(job_, [&](const DeclaredDirection& one, const JsonPath& path) {
      if (one.better == Direction::undeclared) return;
      const Direction own = metric_info(one.metric).better;
      const Known first = own != Direction::undeclared ? Known{own, "memduel list metrics"}
                                                       : Known{one.better, format_json_path(path)};
      const Known& earlier = known.emplace(one.metric, first).first->second;
      if (earlier.better == one.better) return;
      refuse(path,
             fmt::format("found that {} is better for {}, but {} is better by {}",
                         to_name(one.better), one.metric, to_name(earlier.better), earlier.by),
             "declare it once, or both alike");
    });
  }

  /// What stands for a group must not be somebody's own name.
  void check_groups() const {
    std::vector<std::string> taken = taken_;
    taken.insert(taken.end(), matched_.begin(), matched_.end());
    for (const RoleGroup& group : job_facts_of(job_).groups)
      for (const std::string& name : {group.largest(), group.median()})
        if (contains(taken, name))
          refuse(in_workload("processes"),
                 fmt::format("found the role \"{}\", which memduel uses for all of {}", name,
                             group.name),
                 "give it another name");
  }

  void check_files() {
    resolve_templates(job_.templates, directory_, in_workload("templates"), places_);
    std::vector<std::string> names;
    for (JobFile& file : job_.files) {
      if (contains(names, file.name))
        refuse(below(below(in_workload("files"), names.size()), "name"),
               fmt::format("found \"{}\" twice", file.name));
      names.push_back(file.name);
      file.path = resolve_path(file.path, directory_);
    }
    if (job_.final_model)
      refuse_outside_trial(job_.final_model->path,
                           places_.at(below(in_workload("final_model"), "path")),
                           "it is moved from there into the run");
  }

  Job& job_;
  const std::filesystem::path& directory_;
  const Places& places_;
  std::vector<std::string> names_;    ///< of processes, as the config has them
  std::vector<std::string> taken_;    ///< and of each of a count
  std::vector<std::string> matched_;  ///< of descendants
};

}  // namespace

std::map<std::string, Direction> declared_metrics(const Job& job) {
  std::map<std::string, Direction> declared;
  each_declaration(job, [&](const DeclaredDirection& one, const JsonPath&) {
    Direction& better = declared[one.metric];
    if (one.better != Direction::undeclared) better = one.better;
  });
  return declared;
}

void refuse_bad_environment(const Environment& env, const JsonPath& path, const Places& places) {
  constexpr char kNul = '\0';
  for (const auto& [name, value] : env) {
    const bool bad_name = name.empty() || name.find('=') != std::string::npos;
    if (!bad_name && name.find(kNul) == std::string::npos && value.find(kNul) == std::string::npos)
      continue;
    throw Error(ExitCode::usage,
                fmt::format("found the variable \"{}\", which no environment can hold",
                            name.substr(0, name.find(kNul))),
                places.at(path),
                "names are not empty and have no '='; neither names nor values hold a NUL");
  }
}

std::string not_a_role(const std::string& name, const std::vector<std::string>& roles) {
  return fmt::format("found \"{}\", expected the role of a process: {}", name,
                     fmt::join(roles, ", "));
}

std::string resolve_path(const std::string& path, const std::filesystem::path& directory) {
  if (path.starts_with("{trial_dir}")) return path;
  return (directory / path).lexically_normal().string();
}

void resolve_job(Job& job, const std::filesystem::path& directory, const Places& places) {
  JobRules(job, directory, places).apply();
  check_job_texts(job, places);
}

namespace {

/// The process of a role that a variant changes.
JobProcess& changed_process(Variant& variant, const std::string& role, const JsonPath& path,
                            const Places& places) {
  const auto found = std::ranges::find(variant.processes, role, &JobProcess::role);
  if (found != variant.processes.end()) return *found;
  std::vector<std::string> roles;
  for (const JobProcess& process : variant.processes) roles.push_back(process.role);
  throw Error(
      ExitCode::usage,
      fmt::format("found unknown role \"{}\", expected one of {}", role, fmt::join(roles, ", ")),
      places.at(path), nearest_advice(role, roles));
}

}  // namespace

void resolve_changes(Variant& variant, const Job& job, const std::filesystem::path& directory,
                     const JsonPath& path, const Places& places) {
  resolve_templates(variant.templates, directory, below(path, "templates"), places);
  check_variant_texts(variant, path, places);
  if (variant.cwd) variant.cwd = resolve_path(*variant.cwd, directory);
  variant.processes = job.processes;
  for (const auto& [role, argv] : variant.argv)
    changed_process(variant, role, below(path, "argv"), places).argv = argv;
  for (const auto& [role, more] : variant.append) {
    Argv& argv = changed_process(variant, role, below(path, "append"), places).argv;
    argv.insert(argv.end(), more.begin(), more.end());
  }
  for (JobProcess& process : variant.processes) {
    for (const auto& [name, value] : variant.env) process.env[name] = value;
    if (variant.cwd) process.cwd = *variant.cwd;
  }
}

}  // namespace memduel
