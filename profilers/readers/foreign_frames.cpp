#include "profilers/readers/foreign_frames.h"

#include <utility>

namespace memduel {

namespace {

constexpr std::string_view kUnknown = "<unknown>";

}  // namespace

ProfileLocation::Kind kind_of_file(std::string_view file) {
  const bool python = file.ends_with(".py") || file.starts_with("<frozen ") || file == "<string>" ||
                      file == "<stdin>";
  return python ? ProfileLocation::Kind::python : ProfileLocation::Kind::native;
}

std::uint32_t foreign_location(StackBuilder& builder, FrameName frame) {
  const auto kind = kind_of_file(frame.file);
  if (frame.file == kUnknown) frame.file.clear();
  if (frame.function == kUnknown && frame.file.empty()) return builder.unnamed_in("unknown");
  return builder.named(std::move(frame), kind);
}

}  // namespace memduel
