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
                "kind": {"type": "string", "minLength": 1, "description": "command: processes of your own. Another kind is a provider's: fl.schema.json has those of the replays."}
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
                fmt::format("found {}, expected a whole number from 0 to {}", *found, most), path);
}

}  // namespace

const Keys<Variant>& keys_of(const Variant*) {
  static const Keys<Variant> keys =
      Keys<Variant>("variant")
          .required("name", &Variant::name, "Letters, digits and . _ + -",
                    {{"minLength", 1},
                     {"maxLength", kLongestVariantName},
                     {"pattern", "^[A-Za-z0-9][A-Za-z0-9._+-]*$"}})
          .optional("preset", &Variant::preset,
                    "Of a provider: a named set of switch values; absent: every switch at its "
                    "original value.")
          .optional("switches", &Variant::switches,
                    "Of a provider: switch to value, over the preset's.", {{"type", "object"}})
          .with_default("env", &Variant::env, "Added to every process of the variant.")
          .optional(
              "allocator", &Variant::allocator,
              "Preloaded into every process of the variant with settings that give memory back, "
              "and verified in it; absent: whatever the processes use. See "
              "docs/allocators.md.")
          .optional("cwd", &Variant::cwd,
                    "Command: working directory of every process of the variant. A relative path "
                    "starts at the directory of the config.",
                    kNamed)
          .with_default("argv", &Variant::argv,
                        "Command: role to the arguments that replace its argv.",
                        {{"additionalProperties", {{"minItems", 1}}}})
          .with_default("append", &Variant::append,
                        "Command: role to arguments added at the end of its argv.")
          .optional("twin_of", &Variant::twin_of,
                    "Written by --calibrate: this variant repeats that variant on purpose.")
          .with_default("templates", &Variant::templates, "Beside those of the workload.")
          .judged("matrix", R"({
              "type": "array",
              "minItems": 1,
              "items": {"type": "object", "minProperties": 1, "additionalProperties": {"type": "object"}},
              "description": "Axes, each an object of names and what that changes in this variant. The variant stands for one of every combination, called NAME-VALUE-VALUE."})");
  return keys;
}

const Keys<Measure>& keys_of(const Measure*) {
  static const Keys<Measure> keys =
      Keys<Measure>("measure")
          .optional("repeats", &Measure::repeats,
                    "Blocks of a fixed design; absent: adaptive looks at 6, 10 and 16 blocks, with "
                    "two candidates or more at 8 and 16.",
                    range(1, kMostRepeats))
          .with_default("warmups", &Measure::warmups,
                        "Trials of each variant before the first block, which do not count.",
                        range(0, kMostWarmups))
          .with_default("warmup_rounds", &Measure::warmup_rounds,
                        "First rounds of a trial that per-round statistics leave out. A trial "
                        "without a later round has no such statistics.",
                        {{"minimum", 0}, {"maximum", 100'000}})
          .with_default("interval_ms", &Measure::interval_ms, "Between two samples of a process.",
                        {{"minimum", 1}, {"maximum", 60000}})
          .optional(
              "meters", &Measure::meters,
              "See memduel list meters; cgroup is read beside any other; default: procfs and heap "
              "for commands, procfs, allocator and torch for replays.",
              kMeters)
          .optional(
              "seed", &Measure::seed,
              "Of the order in which the variants run. Default: drawn for every run and kept for "
              "--resume. One that is given is workload.seed's default, too.",
              range(0, kMostSeed))
          .with_default(
              "order", &Measure::order,
              "Two blocks at a time, every variant twice, in random order. restricted: drawn again "
              "until no variant lies much later than the baseline; superblocks: as earlier "
              "versions drew it, to go on with their runs. See docs/method.md.");
  return keys;
}

const Keys<GrowthSettings>& keys_of(const GrowthSettings*) {
  static const Keys<GrowthSettings> keys =
      Keys<GrowthSettings>("growth", {{"description", "What growth is judged for."}})
          .optional("horizon_rounds", &GrowthSettings::horizon_rounds,
                    "Rounds of the job in production; default: the workload's own. Nothing is said "
                    "beyond ten times the rounds that were run.",
                    {{"minimum", 1}, {"maximum", 1'000'000'000}});
  return keys;
}

const Keys<ProfileSettings>& keys_of(const ProfileSettings*) {
  static const Keys<ProfileSettings> keys =
      Keys<ProfileSettings>(
          "profile",
          {{"description",
            "Trials after the last block, with a profiler attached: they say where memory "
            "goes and stay out of the statistics."}})
          .with_default(
              "profilers", &ProfileSettings::profilers,
              "What records, one after the other; see memduel list profilers. One that is "
              "not installed is left out with a limitation.",
              {{"minItems", 1},
               {"uniqueItems", true},
               {"items", {{"enum", {"recorder", "heaptrack", "gperftools", "jemalloc"}}}}})
          .with_default("trials", &ProfileSettings::trials, "Of each variant and profiler.",
                        {{"minimum", 0}, {"maximum", 100}});
  return keys;
}

const Keys<PlannedCell>& keys_of(const PlannedCell*) {
  static const Keys<PlannedCell> keys =
      Keys<PlannedCell>("ablation_cell", {{"minProperties", 1}, {"maxProperties", 1}})
          .optional("variant", &PlannedCell::variant, "The variant that measures it.")
          .optional("idle", &PlannedCell::idle,
                    "Why no variant measures it: flipping the switch there changes nothing.")
          .optional("refused", &PlannedCell::refused,
                    "Why no variant measures it: the provider refuses it.");
  return keys;
}

const Keys<PlannedSwitch>& keys_of(const PlannedSwitch*) {
  static const Keys<PlannedSwitch> keys =
      Keys<PlannedSwitch>("ablated_switch")
          .required("name", &PlannedSwitch::name,
                    "A switch of the provider, a variable of the environment or \"allocator\": "
                    "what the two variants of the ablation have differently.",
                    kNamed)
          .required("added_alone", &PlannedSwitch::added_alone, "")
          .required("removed_alone", &PlannedSwitch::removed_alone, "");
  return keys;
}

const Keys<AblationPlan>& keys_of(const AblationPlan*) {
  static const Keys<AblationPlan> keys =
      Keys<AblationPlan>(
          "ablation",
          {{"description",
            "Written by memduel ablate: which variants take the candidate apart. Those variants "
            "inform and are no candidates of a gate."}})
          .required("candidate", &AblationPlan::candidate, "The variant that is taken apart.")
          .required("switches", &AblationPlan::switches, "", {{"minItems", 1}});
  return keys;
}

const Keys<Document>& keys_of(const Document*) {
  static const Keys<Document> keys =
      Keys<Document>("experiment")
          .judged("$schema", R"({"type": "string", "description": "This file, for editors."})")
          .required("name", &Document::name, "Shown in reports.",
                    {{"minLength", 1}, {"maxLength", kLongestTitle}})
          .optional("provider", &Document::provider,
                    "A program that turns workloads of a kind of its own into jobs: its command, "
                    "run in the directory of the config. See docs/providers.md.",
                    {{"minItems", 1}, {"items", {{"type", "string"}, {"minLength", 1}}}})
          .optional("expanded", &Document::expanded,
                    "In a resolved config: what the provider made of it. Written by memduel.",
                    {{"type", "object"}})
          .add(workload_key())
          .required("variants", &Document::variants,
                    "The variants under test: two or more, or one with --calibrate.",
                    {{"minItems", 1}, {"maxItems", kMostVariants}})
          .required("baseline", &Document::baseline,
                    "Name of the variant that the others are compared with.")
          .with_default("measure", &Document::measure, "")
          .with_default("gates", &Document::gates,
                        "Rules ROLE.METRIC<=BOUND[|BOUND][:advisory] that decide the exit code, or "
                        "\"default\": the workload's default gates. If there is none, run and "
                        "check judge the default gates.",
                        {{"items", {{"type", "string"}, {"minLength", 1}}}})
          .in_form(
              "default_gates",
              R"({"enum": [true, false, "check"],
                  "description": "Whether the workload's default gates decide the exit code if no gate is named (default true); false: they only inform; \"check\": they decide in memduel check alone, as in a run of memduel compare."})",
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
              "A gate fails only where the worsening is shown to lie beyond its bound, not "
              "where it is real and estimated there.")
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
