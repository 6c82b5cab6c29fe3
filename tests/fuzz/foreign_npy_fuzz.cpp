// Any bytes, and any text as the head of an NPY file.
#include <algorithm>
#include <string_view>
#include <vector>

#include "foreign_fuzz_common.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gdelta::format;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  check_file({bytes, size});
  // The same as a literal of the right length, so that no byte of it is spent on the frame.
  constexpr std::string_view kMagic("\x93NUMPY\x02\x00", 8);
  std::vector<std::byte> file;
  for (const char c : kMagic) file.push_back(static_cast<std::byte>(c));
  for (int i = 0; i < 4; ++i) file.push_back(static_cast<std::byte>(size >> (8 * i)));
  file.insert(file.end(), bytes, bytes + size);
  check_file(file);
  file.resize(file.size() + 1000);
  check_file(file);
  return 0;
}
