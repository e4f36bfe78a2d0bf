#include "profilers/profile/model/resident_snapshot.h"

namespace memduel {

std::string_view in_words(PageOwner owner) {
  switch (owner) {
    case PageOwner::live:
      return "touched pages of live blocks";
    case PageOwner::pinned:
      return "free space in pages that live blocks keep: fragmentation";
    case PageOwner::held:
      return "the allocator keeps these pages; nothing is live on them";
    case PageOwner::inherited:
      return "from before the fork; the parent's profile says whose";
    case PageOwner::mapping:
      return "anonymous mappings of the program";
    case PageOwner::stack:
      return "stacks of threads";
    case PageOwner::file:
      return "mapped files and shared memory";
    case PageOwner::recorder:
      return "the recorder's own pages, part of no sum";
    case PageOwner::unexplained:
      break;
  }
  return "no owner was found";
}

bool is_page_cache(std::string_view file, std::string_view share) {
  return share == kShared && file != kSharedMemory && !file.starts_with("memfd:");
}

double ResidentSnapshot::bytes_of(PageOwner owner) const {
  double sum = 0;
  for (const ResidentPart& part : parts)
    if (part.owner == owner) sum += part.bytes;
  return sum;
}

double ResidentSnapshot::explained_bytes() const {
  double sum = 0;
  for (const ResidentPart& part : parts) {
    const bool counts = part.owner != PageOwner::recorder && part.owner != PageOwner::unexplained;
    if (counts) sum += part.bytes;
  }
  return sum;
}

double ResidentSnapshot::program_bytes() const {
  return kernel_bytes - bytes_of(PageOwner::recorder);
}

double ResidentSnapshot::unexplained_bytes() const {
  return program_bytes() - explained_bytes();
}

}  // namespace memduel
