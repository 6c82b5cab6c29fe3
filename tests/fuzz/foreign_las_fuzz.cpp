// Any bytes, and any bytes behind the magic number of a LAS file.
#include <vector>

#include "foreign_fuzz_common.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gdelta::format;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  check_file({bytes, size});
  // A header of some length, so that few bytes are spent on its frame.
  std::vector<std::byte> file;
  for (const char c : {'L', 'A', 'S', 'F'}) file.push_back(static_cast<std::byte>(c));
  file.insert(file.end(), bytes, bytes + size);
  file.resize(file.size() + 400);
  file[24] = std::byte{1};
  check_file(file);
  return 0;
}
