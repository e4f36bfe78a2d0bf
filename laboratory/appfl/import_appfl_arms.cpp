#include "laboratory/appfl/import_appfl_arms.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "training/lossy_compression.h"

namespace memduel {
namespace {

using nlohmann::ordered_json;

struct Part {
  AppflSources& sources;
  const std::string& kind;
  const Catalog& catalog;
};

bool accepts(const Part& part, const char* name, const nlohmann::json& value) {
  try {
    resolve_optimizations(part.catalog, part.kind, std::nullopt, {{name, value}}, "import");
    return true;
  } catch (const Error&) {
    return false;
  }
}

void lose_unless(AppflSources& sources, const std::optional<AppflValue>& value, bool same,
                 const std::string& why) {
  if (value && !same) sources.lose(*value, why);
}

/// compressor_configs stand in the part that the server hands out, its own, or the clients'.
std::optional<AppflValue> compressor(AppflSources& sources, const std::string& key) {
  const std::string path = "comm_configs.compressor_configs." + key;
  if (auto value = sources.shared(path)) return value;
  return sources.server("server_configs." + path);
}

void import_compressors(AppflSources& sources) {
  if (const auto lossy = compressor(sources, "lossy_compressor"))
    lose_unless(sources, lossy, to_text(*lossy) == "ZFPCompressor",
                to_text(*lossy) + " is substituted by zfp, at the same bound on the error");
  if (const auto lossless = compressor(sources, "lossless_compressor"))
    lose_unless(sources, lossless, to_text(*lossless) == "blosc", "blosc is used");
  if (const auto mode = compressor(sources, "error_bounding_mode"))
    lose_unless(sources, mode, to_text(*mode) == "REL",
                "the bound is relative to each tensor's range of values (REL)");
  if (const auto bound = compressor(sources, "error_bound"))
    lose_unless(sources, bound, to_positive(*bound) == kRelativeErrorBound,
                fmt::format("the bound is {}", kRelativeErrorBound));
  if (const auto cutoff = compressor(sources, "param_cutoff"))
    lose_unless(sources, cutoff,
                to_whole(*cutoff, 0, std::numeric_limits<std::int64_t>::max()) == kParameterCutoff,
                fmt::format("tensors of up to {} elements stay lossless", kParameterCutoff));
}

/// The value that turns compression on; absent where it is off.
std::optional<AppflValue> import_compression(const Part& part) {
  auto enabled = compressor(part.sources, "enable_compression");
  const bool on = enabled && to_flag(*enabled);
  if (on && accepts(part, "compression", "zfp")) {
    import_compressors(part.sources);
    return enabled;
  }
  for (const char* const owner : {"client_configs.", "server_configs.", ""})
    part.sources.ignore(std::string(owner) + "comm_configs.compressor_configs");
  if (on)
    part.sources.lose(*enabled, fmt::format("a {} workload has no compression here", part.kind));
  return std::nullopt;
}

/// Bytes of a chunk; absent where chunking is off at either end, or states are compressed.
std::optional<std::int64_t> import_chunking(const Part& part, bool compressed) {
  const std::string grpc = "comm_configs.grpc_configs.";
  const auto at_server = part.sources.server("server_configs." + grpc + "use_model_chunking");
  const auto at_client = part.sources.client(grpc + "use_model_chunking");
  const auto server_size = part.sources.server("server_configs." + grpc + "model_chunk_size");
  const auto client_size = part.sources.client(grpc + "model_chunk_size");
  const bool server_on = at_server && to_flag(*at_server);
  const bool client_on = at_client && to_flag(*at_client);
  if (server_on != client_on) {
    part.sources.lose(
        server_on ? *at_server : *at_client,
        fmt::format("APPFL needs chunking at both ends, and the {} leaves it off: off",
                    server_on ? "client" : "server"));
  }
  if (!server_on || !client_on) return std::nullopt;
  if (compressed) {
    part.sources.lose(*at_server,
                      "compressed states travel whole: as in APPFL for uploads, here "
                      "for all");
    return std::nullopt;
  }
  constexpr std::int64_t kAppflDefault = std::int64_t{1} << 30;
  constexpr std::int64_t kMost = std::int64_t{1} << 46;
  const std::int64_t uploaded = client_size ? to_whole(*client_size, 1, kMost) : kAppflDefault;
  const std::int64_t downloaded = server_size ? to_whole(*server_size, 1, kMost) : kAppflDefault;
  if (uploaded != downloaded)
    part.sources.lose(client_size ? *client_size : *server_size,
                      fmt::format("both directions use one size: the server's {}", downloaded));
  if (accepts(part, "model_chunking", downloaded)) return downloaded;
  part.sources.lose(*at_server,
                    fmt::format("switch model_chunking does not offer {} bytes", downloaded));
  return std::nullopt;
}

/// Which of memduel's arms the files themselves run, by their optimize_memory flags.
std::string arm_as_written(AppflSources& sources) {
  const std::vector<AppflValue> flags = sources.ending_with("optimize_memory");
  std::vector<AppflValue> off;
  for (const AppflValue& flag : flags)
    if (!to_flag(flag)) off.push_back(flag);
  if (off.empty()) return "as-coded";
  const auto is_off = [&](const std::string& key, bool in_client) {
    return std::ranges::any_of(off, [&](const AppflValue& flag) {
      return flag.key == key && (flag.file != sources.server_file()) == in_client;
    });
  };
  const bool trainer = is_off("client_configs.train_configs.optimize_memory", false) ||
                       is_off("train_configs.optimize_memory", true);
  const bool rest = is_off("server_configs.optimize_memory", false) &&
                    is_off("server_configs.scheduler_kwargs.optimize_memory", false) &&
                    is_off("server_configs.aggregator_kwargs.optimize_memory", false) &&
                    is_off("server_configs.comm_configs.grpc_configs.optimize_memory", false) &&
                    is_off("comm_configs.grpc_configs.optimize_memory", true);
  if (trainer && rest && off.size() == flags.size()) return "original";
  for (const AppflValue& flag : off)
    sources.lose(flag,
                 "off here and on (APPFL's default) elsewhere: the arms set all parts together; "
                 "an arm's \"optimizations\" can mix them");
  return {};
}

bool offers(const Part& part, const std::string& preset) {
  return std::ranges::any_of(part.catalog.presets, [&](const Preset& one) {
    return one.name == preset &&
           std::ranges::find(one.workload_kinds, part.kind) != one.workload_kinds.end();
  });
}

}  // namespace

ImportedArms import_appfl_arms(AppflSources& sources, const std::string& kind,
                               const Catalog& catalog) {
  const Part part{sources, kind, catalog};
  const auto compressed = import_compression(part);
  const auto chunk_bytes = import_chunking(part, compressed.has_value());
  ImportedArms result{ordered_json::array(), {}};
  for (const char* const name : {"original", "as-coded", "optimized", "minimal"}) {
    const std::string preset = std::string("appfl-") + name;
    if (!offers(part, preset)) continue;
    const bool minimal = std::string_view(name) == "minimal";
    if (minimal && compressed) {
      sources.lose(*compressed,
                   "arm minimal is left out: it sends from tensor storage and folds "
                   "what comes, which compressed states do not allow");
      continue;
    }
    ordered_json arm = {{"name", name}, {"preset", preset}};
    // What is not trained is sent as it is: LLMDummyTrainer hands out the live state.
    if (kind == "state-dict") arm["optimizations"]["upload_state"] = "reference";
    if (compressed) arm["optimizations"]["compression"] = "zfp";
    if (chunk_bytes) {
      arm["optimizations"]["model_chunking"] = *chunk_bytes;
      // APPFL averages chunks in place, whatever optimize_memory says.
      if (std::string_view(name) == "original") arm["optimizations"]["aggregate"] = "in_place";
    }
    result.arms.push_back(std::move(arm));
  }
  if (result.arms.size() < 2)
    throw Error(ExitCode::usage, fmt::format("found no presets of APPFL for a {} workload", kind),
                sources.server_file());
  const std::string as_written = arm_as_written(sources);
  if (!as_written.empty())
    result.notes.push_back(
        fmt::format("As written, these files run what arm {} replays.", as_written));
  return result;
}

}  // namespace memduel
