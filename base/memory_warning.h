// How a worker says that memory ran short: gauges of the round, with the share that was used, 0 to
// 1. The trial's warnings are made of them.
#pragma once

namespace memduel {

inline constexpr const char* kMemoryWarningGauge = "memory_warning_ratio";
inline constexpr const char* kMemoryCriticalGauge = "memory_critical_ratio";

}  // namespace memduel
