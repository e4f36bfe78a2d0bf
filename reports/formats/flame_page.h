// The flame graph of one profile, or of the difference of two, as one HTML file.
#pragma once

#include <string>

namespace memduel {

/// `data` as profilers/profile/questions/flame_data.h describes it.
std::string render_flame_page(const std::string& title, const std::string& data);

}  // namespace memduel
