// Switch compression: whether a client compresses the state that it uploads. As in APPFL the
// server's answers are never compressed, and a compressed state is one object of bytes in place of
// the encoded state, never sent in chunks. See transport/compressed_codec.h for the bytes, the
// bound on the error and the substitution of zfp for SZ2.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "receiving.h"
#include "sending.h"

namespace memduel {

/// A client's state on its way out.
/// @param compression none: as `serialize` says; blosc: lossless; zfp: large weights change by at
/// most kRelativeErrorBound of their range, the rest is as under blosc. Both make an object for
/// each tensor and then one of all, as pickle.dumps of a dictionary does.
std::unique_ptr<Serializer> make_upload_serializer(const std::string& compression,
                                                   const std::string& serialize);

/// A client's state as it arrives, in main memory, where it came from. Compressed states are
/// expanded; under source_device and cpu_first all expanded arrays stay until the last one has been
/// copied, as in APPFL's decompress_model, and under in_place_views they are the tensors
/// themselves.
std::unique_ptr<Deserializer> make_upload_deserializer(const std::string& compression,
                                                       const std::string& deserialize);

/// Throws Error(usage) naming both switches where compression meets a value that works on tensor
/// data as it lies on the wire. @param values every switch.
void expect_compressible(const nlohmann::json& values);

}  // namespace memduel
