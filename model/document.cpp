#include "model/document.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/keys.h"
#include "util/error.h"

namespace memduel {

const Keys<Measure>& keys_of(const Measure*);
const Keys<GrowthSettings>& keys_of(const GrowthSettings*);
const Keys<ProfileSettings>& keys_of(const ProfileSettings*);
const Keys<PlannedCell>& keys_of(const PlannedCell*);
const Keys<PlannedSwitch>& keys_of(const PlannedSwitch*);
const Keys<AblationPlan>& keys_of(const AblationPlan*);

namespace {

using nlohmann::json;

const Schema kNamed = {{"minLength", 1}};

/// A workload of kind command is judged; another kind's is the provider's.
Key<Document> workload_key() {
  return {"workload", Key<Document>::Presence::required,
          [](Schema& definitions) {
            const Schema job = schema_of<Job>(definitions);
            definitions["workload"] = Schema::parse(R"({
              "type": "object",
              "required": ["kind"],
              "properties": {
                "kind": {"type": "string", "minLength": 1, "description": "command runs your own processes. Other kinds belong to workload plug-ins; fl.schema.json describes the built-in FL workloads."}
              },
              "allOf": [{"if": {"properties": {"kind": {"const": "command"}}}}]
            })");
            definitions["workload"]["allOf"][0]["then"] = job;
            return Schema{{"$ref", "#/definitions/workload"}};
          },
          [](const json& value, Document& document) {
            if (value.value("kind", kCommandKind) == std::string(kCommandKind))
              read_from(value, document.workload.job);
            else
              document.workload.own = value;
            // The job that runs is what the provider made of its own.
            const json& expanded = document.expanded;
            if (!document.workload.own.is_null() && expanded.contains("workload"))
              read_from(expanded.at("workload"), document.workload.job);
          },
          [](const Document& document, Write write) -> json {
            if (!document.workload.own.is_null()) return document.workload.own;
            if (!document.workload.is_known()) return nullptr;
            json job = write_value(document.workload.job, write);
            job["kind"] = kCommandKind;
            return job;
          }};
}

/// A store may come from anywhere.
void check_number(const std::optional<int>& found, int most, const char* path) {
  if (found && (*found < 0 || *found > most))
    throw Error(ExitCode::usage,
                fmt::format("expected a whole number from 0 to {1}, found {0}", *found, most),
                path);
}

}  // namespace

bool is_variant_name(std::string_view name) {
  constexpr std::string_view kSigns = "._+-";
  const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0; };
  return !name.empty() && name.size() <= kLongestVariantName &&
         is_letter(static_cast<unsigned char>(name.front())) &&
         std::ranges::all_of(name, [&](char c) {
           return is_letter(static_cast<unsigned char>(c)) || kSigns.find(c) != kSigns.npos;
         });
}

const Keys<Variant>& keys_of(const Variant*) {
  static const Keys<Variant> keys =
      Keys<Variant>("variant")
          .required("name", &Variant::name, "Name of the variant, in letters, digits and . _ + -",
                    {{"minLength", 1},
                     {"maxLength", kLongestVariantName},
                     {"pattern", "^[A-Za-z0-9][A-Za-z0-9._+-]*$"}})
          .optional("description", &Variant::description,
                    "What the variant is, in one line, for the report. Default: the summary of its "
                    "preset.",
                    {{"minLength", 1}})
          .optional("preset", &Variant::preset,
                    "Preset of the workload plug-in: a named set of switch values. Default: every "
                    "switch has its original value.")
          .optional("switches", &Variant::switches,
                    "Values of switches of the workload plug-in, by switch. They override those of "
                    "the preset.",
                    {{"type", "object"}})
          .with_default("env", &Variant::env,
                        "Environment variables that are added to every process of the variant.")
          .optional("allocator", &Variant::allocator,
                    "Allocator that is preloaded into every process of the variant, with settings "
                    "that return free memory to the kernel; memduel verifies that it is in use. "
                    "Default: the allocator of each process. See docs/allocators.md.")
          .optional("cwd", &Variant::cwd,
                    "Working directory of every process of the variant (kind command). Relative "
                    "paths start at the directory of the config.",
                    kNamed)
          .with_default("argv", &Variant::argv,
                        "Arguments that replace the argv of a process, by role (kind command).",
                        {{"additionalProperties", {{"minItems", 1}}}})
          .with_default(
              "append", &Variant::append,
              "Arguments that are appended to the argv of a process, by role (kind command).")
          .optional(
              "twin_of", &Variant::twin_of,
              "Variant that this one repeats on purpose, for an A/A test. Written by --calibrate.")
          .optional(
              "parameters", &Variant::parameters,
              "Values of the parameters of a scan in this variant, by parameter, for exports. "
              "Written by compare -L and -P.")
          .with_default("templates", &Variant::templates,
                        "Templates of this variant, in addition to those of the workload.")
          .with_default("prepare", &Variant::prepare,
                        "Commands run before each trial of this variant, after those of the "
                        "workload (kind command). They are not measured.")
          .with_default("cleanup", &Variant::cleanup,
                        "Commands run after each trial of this variant, before those of the "
                        "workload (kind command). They are not measured.")
          .judged("matrix", R"({
              "type": "array",
              "minItems": 1,
              "items": {"type": "object", "minProperties": 1, "additionalProperties": {"type": "object"}},
              "description": "List of axes. Each axis maps names to the keys that they change in this variant. The variant is replaced by one variant for every combination, named NAME-VALUE-VALUE."})");
  return keys;
}

const Keys<Measure>& keys_of(const Measure*) {
  static const Keys<Measure> keys =
      Keys<Measure>("measure")
          .optional(
              "repeats", &Measure::repeats,
              "Number of blocks (trials of each variant). Default: until decided, with interim "
              "analyses after 6, 10 and 16 blocks, or after 8 and 16 with two or more candidates.",
              range(1, kMostRepeats))
          .with_default("warmups", &Measure::warmups,
                        "Warm-up trials of each variant before the first block. They do not count.",
                        range(0, kMostWarmups))
          .with_default("warmup_rounds", &Measure::warmup_rounds,
                        "First rounds of each trial that per-round statistics omit. A trial "
                        "without a later round has no such statistics.",
                        {{"minimum", 0}, {"maximum", 100'000}})
          .with_default("interval_ms", &Measure::interval_ms,
                        "Sampling interval of each process, in milliseconds.",
                        {{"minimum", 1}, {"maximum", 60000}})
          .optional("meters", &Measure::meters,
                    "Meters to use; memduel list meters describes them. cgroup is always read. "
                    "Default: procfs and heap for commands; procfs, allocator and torch for the "
                    "built-in FL workloads.",
                    kMeters)
          .optional("seed", &Measure::seed,
                    "Seed of the order of the trials. Default: random for every run, and kept for "
                    "--resume. If it is set, it is also the default of workload.seed.",
                    range(0, kMostSeed))
          .with_default(
              "order", &Measure::order,
              "How the random order of a pair of blocks, in which every variant runs twice, is "
              "drawn. restricted: again until no variant runs much later than the baseline. "
              "superblocks: as in earlier versions, to resume their runs. See docs/method.md.");
  return keys;
}

const Keys<GrowthSettings>& keys_of(const GrowthSettings*) {
  static const Keys<GrowthSettings> keys =
      Keys<GrowthSettings>("growth", {{"description", "How growth is judged."}})
          .optional(
              "horizon_rounds", &GrowthSettings::horizon_rounds,
              "Projection horizon: rounds of the job in production. Default: the rounds of the "
              "workload. Growth is projected to at most ten times the rounds that were measured.",
              {{"minimum", 1}, {"maximum", 1'000'000'000}});
  return keys;
}

const Keys<ProfileSettings>& keys_of(const ProfileSettings*) {
  static const Keys<ProfileSettings> keys =
      Keys<ProfileSettings>(
          "profile", {{"description",
                       "Profiled trials, which run after the last block with a profiler attached. "
                       "They show where memory is allocated and are not part of the statistics."}})
          .with_default(
              "profilers", &ProfileSettings::profilers,
              "Profilers to use, one after the other; memduel list profilers describes them. A "
              "profiler that is not installed is skipped, with a limitation. memray is refused "
              "unless every role is Python and has it.",
              {{"minItems", 1},
               {"uniqueItems", true},
               {"items",
                {{"enum", {"recorder", "heaptrack", "gperftools", "jemalloc", "memray"}}}}})
          .with_default("trials", &ProfileSettings::trials,
                        "Number of profiled trials of each variant and profiler.",
                        {{"minimum", 0}, {"maximum", 100}});
  return keys;
}

const Keys<PlannedCell>& keys_of(const PlannedCell*) {
  static const Keys<PlannedCell> keys =
      Keys<PlannedCell>("ablation_cell", {{"minProperties", 1}, {"maxProperties", 1}})
          .optional("variant", &PlannedCell::variant, "Variant that measures this cell.")
          .optional("idle", &PlannedCell::idle,
                    "Why no variant measures this cell: changing the switch has no effect there.")
          .optional(
              "refused", &PlannedCell::refused,
              "Why no variant measures this cell: the workload plug-in refuses the combination.");
  return keys;
}

const Keys<PlannedSwitch>& keys_of(const PlannedSwitch*) {
  static const Keys<PlannedSwitch> keys =
      Keys<PlannedSwitch>("ablated_switch")
          .required("name", &PlannedSwitch::name,
                    "What differs between the two variants: a switch of the workload plug-in, an "
                    "environment variable or \"allocator\".",
                    kNamed)
          .required("added_alone", &PlannedSwitch::added_alone,
                    "The baseline with this switch only.")
          .required("removed_alone", &PlannedSwitch::removed_alone,
                    "The candidate without this switch only.");
  return keys;
}

const Keys<AblationPlan>& keys_of(const AblationPlan*) {
  static const Keys<AblationPlan> keys =
      Keys<AblationPlan>("ablation",
                         {{"description",
                           "Variants that measure the switches of the candidate. Written by "
                           "memduel ablate. Gates do not judge these variants."}})
          .required("candidate", &AblationPlan::candidate, "Variant whose switches are measured.")
          .required("switches", &AblationPlan::switches, "Switches that are measured.",
                    {{"minItems", 1}});
  return keys;
}

const Keys<Document>& keys_of(const Document*) {
  static const Keys<Document> keys =
      Keys<Document>("experiment")
          .judged(
              "$schema",
              R"({"type": "string", "description": "URL or path of this schema, for editors."})")
          .required("name", &Document::name, "Title of the experiment in reports.",
                    {{"minLength", 1}, {"maxLength", kLongestTitle}})
          .optional("provider", &Document::provider,
                    "Command of a workload plug-in, which turns workloads of its own kind into "
                    "jobs. It runs in the directory of the config. See docs/providers.md.",
                    {{"minItems", 1}, {"items", {{"type", "string"}, {"minLength", 1}}}})
          .optional("expanded", &Document::expanded,
                    "Job that the workload plug-in made of a resolved config. Written by memduel.",
                    {{"type", "object"}})
          .add(workload_key())
          .required("variants", &Document::variants,
                    "Variants to compare: two or more, or one with --calibrate.",
                    {{"minItems", 1}, {"maxItems", kMostVariants}})
          .required("baseline", &Document::baseline,
                    "Name of the variant with which the others are compared.")
          .with_default("measure", &Document::measure, "How the variants are measured.")
          .with_default(
              "gates", &Document::gates,
              "Gates [ROLE.]METRIC<=LIMIT[|LIMIT][:advisory], which decide the exit code, "
              "or \"default\" for the default gates of the workload. Default: memduel "
              "run and memduel check judge the default gates.",
              {{"items", {{"type", "string"}, {"minLength", 1}}}})
          .in_form(
              "default_gates",
              R"({"enum": [true, false, "check"],
                  "description": "Whether the default gates of the workload decide the exit code if no gate is named (default: true). false: they are advisory. \"check\": they decide in memduel check only, as for memduel compare."})",
              [](const json& value, Document& document) {
                document.default_gates = value == true    ? DefaultGatesDecide::always
                                         : value == false ? DefaultGatesDecide::never
                                                          : DefaultGatesDecide::in_check;
              },
              [](const Document& document) -> json {
                if (!document.default_gates) return nullptr;
                if (*document.default_gates == DefaultGatesDecide::in_check) return "check";
                return *document.default_gates == DefaultGatesDecide::always;
              })
          .with_default(
              "strict_gates", &Document::strict_gates,
              "Whether a gate fails only if the whole confidence interval is beyond its limit. "
              "false: it also fails if a significant regression is estimated beyond its limit.")
          .optional("growth", &Document::growth, "")
          .optional("profile", &Document::profile, "")
          .optional("ablation", &Document::ablation, "");
  return keys;
}

Document document_of_program(const std::string& name, const Argv& argv, const std::string& cwd) {
  JobProcess process;
  process.role = kCommand;
  process.argv = argv;
  process.cwd = cwd;
  Document document;
  document.name = name;
  document.workload.job.processes = {std::move(process)};
  return document;
}

std::vector<std::string> Document::variant_names() const {
  std::vector<std::string> names;
  for (const Variant& variant : variants) names.push_back(variant.name);
  return names;
}

const Variant* Document::variant(std::string_view of_name) const {
  const auto found = std::ranges::find(variants, of_name, &Variant::name);
  return found == variants.end() ? nullptr : &*found;
}

std::optional<int> Document::rounds() const {
  if (workload.own.is_null() || !expanded.is_null()) return workload.job.rounds;
  const auto own = workload_number(*this, "rounds");
  return own && *own <= kMostRoundsOfJob ? std::optional(static_cast<int>(*own)) : std::nullopt;
}

std::optional<double> workload_number(const Document& document, const char* key) {
  const json& own = document.workload.own;
  if (!own.is_object() || !document.expanded.is_null()) return std::nullopt;
  const auto found = own.find(key);
  return found != own.end() && found->is_number() ? std::optional(found->get<double>())
                                                  : std::nullopt;
}

Document document_of_run(const json& written) {
  Document document;
  document.measure.order.reset();
  document.measure.warmup_rounds = 0;
  if (!written.is_object()) return document;  // a file without one
  try {
    read_from(written, document);
  } catch (const Error& error) {
    throw Error(error.code(), error.what(), "$" + error.where(), error.advice());
  }
  constexpr int kMostBlocks = 1'000'000;
  check_number(document.measure.repeats, kMostBlocks, "$.measure.repeats");
  check_number(document.measure.warmup_rounds, kMostRoundsOfJob, "$.measure.warmup_rounds");
  check_number(document.workload.job.rounds, kMostRoundsOfJob, "$.workload.rounds");
  return document;
}

json written_document(const Document& document) {
  const bool is_resolved = document.measure.seed.has_value();
  return write_value(document, is_resolved ? Write::all : Write::given);
}

json given_in(const Document& document) {
  return write_value(document, Write::given);
}

}  // namespace memduel
