#include "resolution.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "config/experiment.h"
#include "config/placeholders.h"
#include "trial/marks.h"
#include "trial/trial_plan.h"
#include "util/error.h"
#include "util/text.h"
#include "variants.h"

namespace memduel {
namespace {

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
              fmt::format("expected a file below {{trial_dir}}, found \"{}\"", file), place, why);
}

void resolve_templates(std::vector<JobTemplate>& templates, const std::filesystem::path& directory,
                       const JsonPath& path, const Places& places) {
  for (std::size_t i = 0; i < templates.size(); ++i) {
    JobTemplate& each = templates[i];
    const JsonPath at = below(path, i);
    refuse_outside_trial(each.to, places.at(below(at, "to")),
                         "a copy belongs to one trial and is removed with it");
    if (each.from.has_value() == each.json.has_value())
      throw Error(ExitCode::usage,
                  each.from ? "expected \"from\" or \"json\", found both"
                            : "expected \"from\" or \"json\", found neither",
                  places.at(at));
    if (each.from) each.from = resolve_path(*each.from, directory);
    for (std::size_t j = 0; j < i; ++j)
      if (templates[j].to == each.to)
        throw Error(ExitCode::usage, fmt::format("found \"{}\" twice", each.to),
                    places.at(below(at, "to")), "give each template its own file");
  }
}

/// Processes and matches with a count of several are groups.
std::vector<RoleGroup> groups_of(const Job& job) {
  std::vector<RoleGroup> groups;
  const auto add = [&](const auto& counted) {
    if (counted.count.value_or(1) > 1) groups.push_back({counted.role, *counted.count});
  };
  std::ranges::for_each(job.processes, add);
  for (const RoleMatch& match : job.match)
    if (std::ranges::find(groups, match.role, &RoleGroup::name) == groups.end()) add(match);
  return groups;
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
    check_matches();
    check_reference();
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
        refuse(below(path, "after"), fmt::format("expected an earlier role, found \"{}\"", role),
               nearest_advice(role, names_));
    if (process.ready) apply_to(*process.ready, below(path, "ready"));
    refuse_bad_environment(process.env, below(path, "env"), places_);
    names_.push_back(process.role);
    process.cwd = process.cwd.empty() ? job_.cwd : resolve_path(process.cwd, directory_);
  }

  void apply_to(JobReady& ready, const JsonPath& path) const {
    const int conditions =
        (ready.port || ready.port_name ? 1 : 0) + (ready.log ? 1 : 0) + (ready.file ? 1 : 0);
    if (conditions > 1) refuse(path, "expected one condition of port, log and file, found several");
    if (ready.log) check_pattern(*ready.log, below(path, "log"));
    if (ready.file) ready.file = resolve_path(*ready.file, directory_);
  }

  void check_role(const std::string& role, const JsonPath& path) const {
    if (role == kTree) refuse(path, "found \"all\", which memduel uses for all processes together");
    if (contains(taken_, role))
      refuse(path, fmt::format("found \"{}\" twice", role),
             "use a different role for each process, or set \"count\"");
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
             "found \"end\": \"stop\" in every process, so nothing ends a trial", kGiveATrialAnEnd);
  }

  /// The role whose rounds others may take has to be there, and to have some.
  void check_reference() const {
    auto reference = job_.processes.begin();
    if (job_.reference) {
      if (std::ranges::find(job_.match, *job_.reference, &RoleMatch::role) != job_.match.end())
        return;
      reference = std::ranges::find(job_.processes, *job_.reference, &JobProcess::role);
      if (reference == job_.processes.end()) {
        std::vector<std::string> roles = names_;
        for (const RoleMatch& match : job_.match) roles.push_back(match.role);
        refuse(in_workload("reference"), not_a_role(*job_.reference, roles),
               nearest_advice(*job_.reference, roles));
      }
    }
    if (!reference->takes_rounds) return;
    const auto index = static_cast<std::size_t>(reference - job_.processes.begin());
    refuse(below(below(in_workload("processes"), index), "rounds"),
           fmt::format("found \"reference\", but {} is the role that sets the rounds of the others",
                       reference->role),
           "omit it here");
  }

  /// A matched role may have several patterns, but a process has its role from the config alone.
  void check_matches() {
    for (std::size_t i = 0; i < job_.match.size(); ++i) {
      const RoleMatch& match = job_.match[i];
      const JsonPath path = below(in_workload("match"), i);
      std::vector<std::string> known = taken_;
      known.insert(known.end(), matched_.begin(), matched_.end());
      if (match.ancestor && !contains(known, *match.ancestor))
        refuse(below(path, "ancestor"), not_a_role(*match.ancestor, known),
               nearest_advice(*match.ancestor, known));
      check_pattern(match.pattern, below(path, "pattern"));
      const auto same = std::ranges::find(job_.match, match.role, &RoleMatch::role);
      if (&*same != &match) {
        if (same->count != match.count)
          refuse(below(path, "count"),
                 fmt::format("expected the count of the first match of {}", match.role));
        continue;
      }
      std::vector<std::string> roles = match.roles();
      if (match.count) roles.push_back(match.role);
      for (const std::string& role : roles) {
        check_role(role, below(path, "role"));
        if (contains(matched_, role))
          refuse(below(path, "role"), fmt::format("found \"{}\" twice", role),
                 "use a different role for each match with a count");
      }
      matched_.insert(matched_.end(), roles.begin(), roles.end());
    }
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
      refuse(below(path, "from"), fmt::format("expected {{\"file\": PATH}}, found \"{}\"", stream),
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
    roles.insert(roles.end(), matched_.begin(), matched_.end());
    if (!contains(roles, mark.role))
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
             fmt::format("found that {} is better for {}, but {} is better according to {}",
                         to_name(one.better), one.metric, to_name(earlier.better), earlier.by),
             "declare it once, or the same in both");
    });
  }

  /// What stands for a group must not be somebody's own name.
  void check_groups() const {
    std::vector<std::string> taken = taken_;
    taken.insert(taken.end(), matched_.begin(), matched_.end());
    for (const RoleGroup& group : groups_of(job_))
      for (const std::string& name : {group.largest(), group.median()})
        if (contains(taken, name))
          refuse(in_workload("processes"),
                 fmt::format("found the role \"{}\", which memduel uses for all of {}", name,
                             group.name),
                 "rename it");
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
                           "memduel moves it from there into the run directory");
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

std::string not_a_role(const std::string& name, const std::vector<std::string>& roles) {
  return fmt::format("expected the role of a process ({1}), found \"{0}\"", name,
                     fmt::join(roles, ", "));
}

std::string resolve_path(const std::string& path, const std::filesystem::path& directory) {
  if (path.starts_with("{trial_dir}")) return path;
  return (directory / path).lexically_normal().string();
}

namespace {

/// The process of a role that a variant changes.
JobProcess& changed_process(Variant& variant, const std::string& role, const JsonPath& path,
                            const Places& places) {
  const auto found = std::ranges::find(variant.processes, role, &JobProcess::role);
  if (found != variant.processes.end()) return *found;
  std::vector<std::string> roles;
  for (const JobProcess& process : variant.processes) roles.push_back(process.role);
  throw Error(ExitCode::usage, not_a_role(role, roles), places.at(below(path, role)),
              nearest_advice(role, roles));
}

/// Makes what a variant changes absolute, and gives it its processes: the job's, with its argv,
/// append, env and cwd applied.
void resolve_changes(Variant& variant, const Job& job, const std::filesystem::path& directory,
                     const JsonPath& path, const Places& places) {
  resolve_templates(variant.templates, directory, below(path, "templates"), places);
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

void refuse_keys_of_providers(const Variant& variant, const JsonPath& path, const Places& places) {
  const char* key = variant.preset ? "preset" : !variant.switches.empty() ? "switches" : nullptr;
  if (key == nullptr) return;
  throw Error(ExitCode::usage,
              fmt::format("found \"{}\", which workloads of kind command do not use", key),
              places.at(below(path, key)));
}

bool is_same_program(const Variant& a, const Variant& b) {
  return a.switches == b.switches && a.env == b.env && a.processes == b.processes &&
         a.templates == b.templates && a.allocator == b.allocator && a.prepare == b.prepare &&
         a.cleanup == b.cleanup;
}

void refuse_equal_variants(const std::vector<Variant>& variants, const Places& places) {
  for (std::size_t i = 0; i < variants.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (variants[i].twin_of || variants[j].twin_of || !is_same_program(variants[i], variants[j]))
        continue;
      throw Error(ExitCode::usage,
                  fmt::format("the variants \"{}\" and \"{}\" have the same program, arguments, "
                              "environment and directory",
                              variants[j].name, variants[i].name),
                  places.at(variant_path(i)), kMeasureTheNoise);
    }
}

/// One round more than the default leaves out is asked for: then some must be left.
void refuse_only_warmup_rounds(const Document& document, const Places& places) {
  const Job& job = document.workload.job;
  const int left_out = document.measure.warmup_rounds;
  const auto& rounds = job.stop_after_round ? job.stop_after_round : job.rounds;
  if (!rounds || left_out <= 1 || left_out < *rounds) return;
  throw Error(ExitCode::usage,
              fmt::format("expected less than the {1} of a trial (workload.{2}), found {0}",
                          left_out, format_count(static_cast<std::size_t>(*rounds), "round"),
                          job.stop_after_round ? "stop_after_round" : "rounds"),
              places.at({"measure", "warmup_rounds"}), "otherwise no round remains to measure");
}

/// The order's seed is fresh for every run, the workload's the same for all.
void resolve_seeds(Document& document, const Overrides& overrides) {
  std::optional<std::uint64_t>& seed = document.measure.seed;
  if (!document.workload.job.seed) document.workload.job.seed = seed.value_or(1);
  if (overrides.seed)
    seed = overrides.seed;
  else if (!seed)
    seed = overrides.drawn_seed.value_or(1);
}

void resolve_gates(Document& document, const Overrides& overrides, const Places& places) {
  if (overrides.strict_gates) document.strict_gates = true;
  std::optional<DefaultGatesDecide>& defaults = document.default_gates;
  if (std::ranges::find(document.gates, kDefaultGates) == document.gates.end()) {
    if (overrides.no_default_gates)
      defaults = DefaultGatesDecide::never;
    else if (overrides.default_gates_if_named_only && !defaults)
      defaults = DefaultGatesDecide::in_check;
    return;
  }
  if (overrides.no_default_gates)
    throw Error(ExitCode::usage, "the gates contain \"default\"", "--no-default-gates",
                "omit it, or name other gates with --gate");
  if (overrides.gates.empty() && defaults && *defaults != DefaultGatesDecide::always)
    throw Error(ExitCode::usage, "found \"default\" although default_gates is false",
                places.at({"gates"}), "remove one of them");
  defaults.reset();
}

/// Makes all of the job absolute and checks it, with what each variant changes of it.
void resolve_workload(Document& document, const JobSource& source) {
  Job& job = document.workload.job;
  JobRules(job, source.directory, source.places).apply();
  for (std::size_t i = 0; i < document.variants.size(); ++i) {
    const JsonPath path = variant_path(i);
    if (!source.is_expanded) refuse_keys_of_providers(document.variants[i], path, source.places);
    resolve_changes(document.variants[i], job, source.directory, path, source.places);
  }
}

}  // namespace

void resolve_document(Document& document, const Places& places, const JobSource& source,
                      const Overrides& overrides) {
  resolve_seeds(document, overrides);
  resolve_gates(document, overrides, places);
  if (!document.measure.meters) document.measure.meters = default_meters();
  resolve_workload(document, source);
  refuse_equal_variants(document.variants, places);
  refuse_only_warmup_rounds(document, places);
  check_texts(document, source.places);
}

namespace {

bool is_spread(const Job& job) {
  return std::ranges::any_of(
      job.processes, [](const JobProcess& process) { return are_elsewhere(process.nodes); });
}

/// Where no machine has the whole job: each role that is alone, and the largest of each group.
std::vector<RoleMetric> gates_of_roles(const JobFacts& job) {
  std::vector<RoleMetric> gates;
  for (const std::string& role : job.roles)
    if (!is_member(job, role)) gates.push_back({role, kPeakRss});
  for (const RoleGroup& group : job.groups) gates.push_back({group.largest(), kPeakRss});
  return gates;
}

}  // namespace

JobFacts job_facts_of(const Job& job) {
  JobFacts facts;
  facts.groups = groups_of(job);
  for (const JobProcess& process : job.processes) {
    const auto roles = process.roles();
    facts.roles.insert(facts.roles.end(), roles.begin(), roles.end());
    if (facts.reference.empty() || process.role == job.reference) facts.reference = roles.front();
  }
  for (const RoleMatch& match : job.match) {
    const auto roles = match.roles();
    for (const std::string& role : roles)
      if (!contains(facts.roles, role)) facts.roles.push_back(role);
    if (match.role == job.reference) facts.reference = roles.front();
  }
  facts.better = declared_metrics(job);
  if (is_spread(job)) facts.default_gates = gates_of_roles(facts);
  return facts;
}

}  // namespace memduel
