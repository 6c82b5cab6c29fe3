#pragma once

#include <cstdint>

namespace gdelta::test {

inline constexpr std::uint64_t kMiB = 1 << 20;

}  // namespace gdelta::test
