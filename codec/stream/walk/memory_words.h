// Amounts of memory in words, as limits on it are given: "353 MiB".
#pragma once

#include <cstdint>
#include <string>

namespace gdelta {

/// Rounded up: a limit of as much is enough.
std::string needed_memory(std::uint64_t bytes);
/// "4 GiB" of a limit that is whole in a unit, else rounded down.
std::string allowed_memory(std::uint64_t bytes);

}  // namespace gdelta
