// Functions that another revision of a program has under another name: a library puts its version
// into a namespace (nlohmann::json_abi_v3_11_2, fmt::v9), a template gets another argument, a
// function another parameter.
#pragma once

#include <map>
#include <set>
#include <string>

#include "profilers/profile/model/profile.h"

namespace memduel {

/// `fmt::v9::print(int)` is `fmt::print(int)`. Namespaces that are named `v9`, `x_v3_11_2`,
/// `lts_20220623` or `icu_72` are versions.
std::string without_versions(const std::string& function);

/// The candidate's names, each with the baseline's that it stands for.
using RenamedFunctions = std::map<std::string, std::string>;

/// Of functions that one side alone has: pairs that differ in versions alone, then those that
/// differ in template arguments too, then those with the same short_name(), where that leaves each
/// side one.
RenamedFunctions renamed_functions(const std::set<std::string>& baseline,
                                   const std::set<std::string>& candidate);

/// For people: how many.
std::string describe(const RenamedFunctions& renamed);

/// The compiled functions of a profile's stacks, without_clone(); not what stands for a library.
std::set<std::string> compiled_functions(const Profile& profile);

}  // namespace memduel
