// pprof's protobuf (profile.proto), gzipped as pprof writes it or plain: what Go, gperftools'
// successors, jemalloc's and tcmalloc's servers, and memduel export leave.
#pragma once

#include <string_view>

#include "profilers/profile/model/profile.h"
#include "profilers/profile/names/symbolize.h"

namespace memduel {

class PlainSource;

bool is_pprof(std::string_view head);

/// The values alloc, inuse, peak and temporary (_objects and _space) become allocated, live, peak
/// and temporary; objects and space become live. Of a profile with none of them, the values of its
/// default type. Labels round, phase and heap are read as memduel export writes them. The
/// values are unbiased already; with the file's period their counts tell how sure they are.
Profile read_pprof(PlainSource& source, const SymbolOptions& symbols);

}  // namespace memduel
