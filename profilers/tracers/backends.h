// One maker per tracer, and whether what it needs is here; one file each. The registry has what is
// said about them.
#pragma once

#include <memory>

#include "profilers/availability.h"
#include "profilers/tracers/tracer.h"

namespace memduel {

std::unique_ptr<Tracer> make_recorder();
std::unique_ptr<Tracer> make_heaptrack();
std::unique_ptr<Tracer> make_gperftools();
std::unique_ptr<Tracer> make_jemalloc();

Availability heaptrack_works();
Availability gperftools_works();
Availability jemalloc_works();

}  // namespace memduel
