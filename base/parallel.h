// Independent pieces of work on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace memduel {

/// Calls `run` for each number below `count`, on as many threads as there are cores; this one is
/// among them, and the only one where no other can be started. Returns when all are done. What
/// `run` throws is thrown here then, of several that of the smallest number.
void run_parallel(std::size_t count, const std::function<void(std::size_t)>& run);

}  // namespace memduel
