#include "cli/removed.h"

#include <fmt/format.h>

namespace memduel::cli {
namespace {

struct RemovedVerb {
  const char* name;
  const char* instead;
};

constexpr RemovedVerb kRemovedVerbs[] = {
    {"import-appfl", "write the job as in configs/resnet-dummy.json (docs/appfl.md)"}};

}  // namespace

std::optional<std::string> describe_removed_verb(const std::string& verb) {
  for (const auto& [name, instead] : kRemovedVerbs)
    if (verb == name) return fmt::format("{} is gone: {}", name, instead);
  return std::nullopt;
}

}  // namespace memduel::cli
