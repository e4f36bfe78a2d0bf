// Names of commands that have none: after the word in which they differ.
#pragma once

#include <string>
#include <vector>

namespace memduel::cli {

/// "ledger-1.4" and "ledger-1.5" of "./ledger-1.4 x" and "./ledger-1.5 x", "before.py" and
/// "after.py" of "python3 before.py" and "python3 after.py". Empty if the commands differ in no
/// word or in several, or if that word of one of them begins with no letter and would be no clear
/// name.
std::vector<std::string> names_after_difference(const std::vector<std::string>& commands);

}  // namespace memduel::cli
