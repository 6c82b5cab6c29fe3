// Bytes that say nothing, the same for every run.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

namespace gdelta::test {

inline std::vector<unsigned char> noise(std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<unsigned char> bytes(count);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

}  // namespace gdelta::test
