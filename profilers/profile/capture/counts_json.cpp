#include "profilers/profile/capture/counts_json.h"

#include <nlohmann/json.hpp>

namespace memduel {

std::string counts_json(const std::vector<std::string>& command, int status,
                        const std::vector<RecordedImage>& images) {
  nlohmann::json json{{"schema", "memduel.counts/1"},
                      {"command", command},
                      {"status", status},
                      {"images", nlohmann::json::array()}};
  for (const RecordedImage& image : images) {
    const HeapCounters& counters = image.counters;
    json["images"].push_back({{"program", counters.program},
                              {"pid", counters.pid},
                              {"ended_by_itself", counters.finished},
                              {"peak_bytes", counters.peak_bytes},
                              {"live_at_end_bytes", counters.live_bytes},
                              {"allocated_bytes", counters.allocated_bytes},
                              {"allocation_count", counters.allocations},
                              {"mapping_peak_bytes", counters.mapping_peak_bytes},
                              {"heap_and_mapped_peak_bytes", counters.together_peak_bytes},
                              {"heap_and_mapped_is_sampled", counters.has_sparse},
                              {"exact_within_bytes", counters.uncertainty_bytes()}});
  }
  // Arguments and names of programs may be any bytes.
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace memduel
