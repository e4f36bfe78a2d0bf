// Every tracer memduel has, in one table: what `list tracers` prints and what a config may name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "profilers/availability.h"
#include "profilers/tracers/tracer.h"

namespace memduel {

struct TracerEntry {
  std::string name;
  std::string summary;
  std::string package;           ///< of Debian, that brings it; empty: memduel itself
  std::string limits;            ///< what its numbers do not say
  std::string allocator;         ///< on which it runs the program; empty: on its own
  bool hides_allocator = false;  ///< malloc comes from the tracer, whichever allocator is behind it
  bool samples = false;          ///< TracerOptions mean something to it
  bool dumps_rounds = false;
  /// Deadlines and waits of a trial under it are this many times as long.
  double patience = 1;
  Availability (*works_here)() = nullptr;
  std::unique_ptr<Tracer> (*make)() = nullptr;
};

const std::vector<TracerEntry>& tracers();

/// The entry called `name`. Throws Error(usage) that names the nearest tracer.
const TracerEntry& tracer_named(const std::string& name);

/// Why the tracer is not here and how to get it, in one line; empty when it works.
std::string obstacle_here(const TracerEntry& entry, const Availability& here);

}  // namespace memduel
