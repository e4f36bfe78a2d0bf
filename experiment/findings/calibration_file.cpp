#include "experiment/findings/calibration_file.h"

#include <unistd.h>

#include "base/cache_directory.h"
#include "base/error.h"
#include "base/file.h"
#include "base/foreign_json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/text_file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// The baseline without its name: what it runs, not what it is called.
nlohmann::json baseline_program(const nlohmann::json& config) {
  for (nlohmann::json arm : config.at("arms")) {
    if (arm.at("name") != config.at("baseline")) continue;
    for (const char* label : {"name", "preset", "twin_of"}) arm.erase(label);
    return arm;
  }
  return nullptr;
}

}  // namespace

std::optional<fs::path> calibration_path(const nlohmann::json& config,
                                         const nlohmann::json& environment) {
  const auto cache = cache_directory();
  if (!cache) return std::nullopt;
  const nlohmann::json program = {config.at("workload"), baseline_program(config)};
  const std::string hash = sha256_hex(program.dump()).substr(0, 12);
  return *cache / "calibrations" / environment.at("fingerprint").get<std::string>() /
         (file_name_for(config.at("name")) + "-" + hash + ".json");
}

std::optional<Calibration> read_calibration(const fs::path& path) {
  // A folder of another user's, as below sudo -u, holds none for this one.
  if (::access(path.c_str(), R_OK) != 0) return std::nullopt;
  const nlohmann::json json = parse_foreign_json(read_text_file(path));
  if (json.is_discarded())
    throw Error(ExitCode::io, "is not JSON", path.string(), "delete it and calibrate again");
  return calibration_from_json(json, path.string());
}

void write_calibration(const fs::path& path, const Calibration& calibration) {
  make_directory(path.parent_path());
  write_file_atomically(path, calibration_to_json(calibration).dump(1) + "\n");
}

}  // namespace memduel
