// Which frames are a program's own and which every program has: allocators, the standard library,
// what starts programs and threads, interpreters, places without a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profilers/profile/model/profile.h"

namespace memduel {

/// The name without its return type and parameters: what stands before these, after the last space
/// that is in no bracket.
std::string_view qualified_name(std::string_view function);

/// The C++ and Rust libraries' and the allocators' own.
bool hands_memory_out(std::string_view function);

/// What starts a program or a thread, whatever that does then.
bool starts_something(std::string_view function);

/// `libfoo.so+0x1234`: a place without a name.
bool is_place(std::string_view function);

/// Whether a frame tells nothing of the program whose stack it is in. The places of a program that
/// has no names tell something.
bool is_everybodys(const Profile& profile, const ProfileLocation& location,
                   std::string_view function);

/// A frame, and whether it is everybody's.
struct ToldFrame {
  FrameName name;
  bool own = false;
};

/// The frames of a stack, innermost first; those that are inlined are expanded.
std::vector<ToldFrame> told_frames(const Profile& profile, std::uint32_t stack);

/// The number of the innermost frame that tells most: the name of a runtime's memory, else in
/// Python where there is Python, else the program's own, else a library's, else the first.
std::size_t leading_frame(const Profile& profile, std::uint32_t stack);

}  // namespace memduel
