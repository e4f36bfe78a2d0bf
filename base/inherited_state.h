// What a process gets from whoever starts it, and must not depend on.
#pragma once

namespace memduel {

/// Makes this process one like any other, whoever started it:
/// - /dev/null stands in place of each of the descriptors 0 to 2 that is closed, so that no file of
///   a run becomes one of them;
/// - writing to a pipe that nobody reads, or beyond `ulimit -f`, fails and does not kill;
/// - the status of a child can be waited for, where SIGCHLD came ignored;
/// - Ctrl-C, SIGTERM and SIGHUP arrive, where they came blocked.
/// Programs that it starts inherit the descriptors and the signals, and die of writing as they
/// would.
void undo_inherited_state() noexcept;

}  // namespace memduel
