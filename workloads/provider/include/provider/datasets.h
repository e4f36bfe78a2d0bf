// Where data sets lie on this machine.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace memduel {

/// Folders that may hold data sets, in the order in which they are searched: --data-dir,
/// MEMDUEL_DATA_DIR, data/ and workloads/data/datasets/ of the checkout, ~/.cache/memduel.
std::vector<std::filesystem::path> data_directories(
    const std::optional<std::filesystem::path>& data_dir);

/// A data set that memduel knows, and the files it needs below a data folder. A file may also lie
/// there compressed, with ".gz" at the end of its name.
struct Dataset {
  std::string name;
  std::string summary;
  std::vector<std::string> files;       ///< none: it is made, or the workload names its file
  std::string how_to_get;               ///< empty: it is made
  std::vector<std::string> whole = {};  // NOLINT: files that it is whole with
  std::string subset = {};              // NOLINT: what is used without them
};

const std::vector<Dataset>& known_datasets();

/// The first folder that holds the whole data set, else the first that holds what it takes to run.
/// Throws Error(io) that names what is missing, where it was looked for and how to get it;
/// Error(usage) for an unknown name.
std::filesystem::path find_dataset(const std::string& name,
                                   const std::vector<std::filesystem::path>& directories);

/// For people: the folder that holds it, or what it takes to have it.
std::string whereabouts(const Dataset& dataset,
                        const std::vector<std::filesystem::path>& directories);

/// "mnist, whole", or what is used of it where its folder has not all; empty for one without files.
std::string describe_data(const nlohmann::json& workload, const std::filesystem::path& directory);

/// The same as find_dataset() for a resolved workload, with the file that its data set names; an
/// empty path where it needs no data set.
std::filesystem::path find_data_dir(const nlohmann::json& workload,
                                    const std::vector<std::filesystem::path>& directories);

}  // namespace memduel
