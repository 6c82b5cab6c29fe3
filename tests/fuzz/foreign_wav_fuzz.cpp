// Any bytes behind each magic number of WAV.
#include <algorithm>
#include <string_view>
#include <vector>

#include "foreign_fuzz_common.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gdelta::format;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  check_file({bytes, size});
  // The same with a head that gets further: chunks of any kind after each magic number.
  for (const std::string_view magic : {"RIFF", "RIFX", "RF64"}) {
    std::vector<std::byte> file(12 + size);
    const auto put = [&](std::size_t at, std::string_view text) {
      std::transform(text.begin(), text.end(), file.begin() + static_cast<std::ptrdiff_t>(at),
                     [](char c) { return static_cast<std::byte>(c); });
    };
    put(0, magic);
    put(8, "WAVE");
    std::copy(bytes, bytes + size, file.begin() + 12);
    check_file(file);
  }
  return 0;
}
