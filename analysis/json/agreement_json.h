// The section agreement of results.json.
#pragma once

#include <nlohmann/json.hpp>

#include "analysis/json/json_reader.h"
#include "base/tracer_agreement.h"

namespace memduel {

nlohmann::json agreement_to_json(const TracerAgreement& agreement);

/// Throws Error(io) that names the JSON path, what was found and what was expected.
TracerAgreement agreement_from_json(const JsonReader& in);

}  // namespace memduel
