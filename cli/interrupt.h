// Signals: what is left behind when the user stops the command, and writes that fail as errors.
#pragma once

#include <string>

namespace gdelta::cli {

/// Lets SIGINT, SIGQUIT, SIGTERM and SIGHUP remove the unfinished file before they end the process
/// as usual; turns SIGPIPE and SIGXFSZ into errors of the write that caused them. Call once, at the
/// start.
void handle_signals();

/// Names the one unfinished file; call it before the file is created.
/// Threads     from one thread
void remove_on_signal(const std::string& path);
/// The file is finished or gone.
void keep_on_signal();

/// Ends the process by SIGPIPE, so that whoever started it sees that nobody read its output to the
/// end. Returns if SIGPIPE was ignored from the start.
void end_by_closed_pipe();

}  // namespace gdelta::cli
