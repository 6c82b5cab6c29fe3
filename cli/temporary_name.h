// What unfinished outputs are called, and those that killed processes left.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gdelta::cli {

/// "dir/.name.1f3a5c7e.gdelta-part" for "dir/name": hidden, beside the file that it becomes, so that
/// a rename is enough.
std::string temporary_name(const std::string& path, std::uint32_t number);
/// Whether a file of this name is such a one, of any path.
bool is_temporary_name(std::string_view name);

/// Locks a temporary file that was just created, until it is closed. False, with errno, if
/// another process has taken it for a leftover meanwhile.
bool lock_temporary(int fd);

/// Removes temporary files of `path` that no process has locked and that belong to this user.
/// Folders are read once; what appears in them later stays for the next run.
/// Threads     from one thread
void remove_leftovers(const std::string& path);

}  // namespace gdelta::cli
