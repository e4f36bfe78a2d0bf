// An arm in the words of its config.
#pragma once

#include <string>

#include "model/document.h"

namespace memduel {

/// What of an arm is not told: nothing, the directory that it runs in, so that a program below it
/// is `src/lua`, or with the directory all arguments and values of a confidential report.
enum class LeftOut { nothing, directory, arguments };

/// What an arm changes of its job, part by part: "A=1 ./sort2 -x under jemalloc". Empty where it
/// changes nothing of it.
std::string arm_words(const Document& config, const Variant& arm,
                      LeftOut left_out = LeftOut::nothing);

/// Of an arm that changes nothing of its job: what the other arms change, before they do, as in
/// "server: ./server --port 1"; empty where they change no command, or arguments are left out.
std::string unchanged_words(const Document& config, LeftOut left_out = LeftOut::nothing);

}  // namespace memduel
