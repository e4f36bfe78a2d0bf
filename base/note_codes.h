// Codes of notes that several rooms must tell apart.
#pragma once

namespace memduel {

/// A limitation about the resolution of charts, which no verdict rests on: summaries leave it out.
inline constexpr const char* kSampledLessOften = "sampled_less_often";

}  // namespace memduel
