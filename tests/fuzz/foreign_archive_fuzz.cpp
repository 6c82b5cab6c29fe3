// Any bytes as archives whose heads hold: the first two say how each is filled in.
#include <algorithm>
#include <vector>

#include "foreign_fuzz_common.h"

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kTarHeadBytes = 512, kTarMagicAt = 257, kTarCheckAt = 148;

void put(Bytes& file, std::size_t at, const char* text, std::size_t count) {
  std::transform(text, text + count, file.begin() + static_cast<std::ptrdiff_t>(at),
                 [](char c) { return static_cast<std::byte>(c); });
}

/// Gives the head at `at` its magic number and its sum.
void mend_tar_head(Bytes& file, std::size_t at) {
  if (file.size() - at < kTarHeadBytes) return;
  put(file, at + kTarMagicAt, "ustar", 5);
  put(file, at + kTarCheckAt, "        ", 8);
  unsigned sum = 0;
  for (std::size_t i = 0; i < kTarHeadBytes; ++i) sum += std::to_integer<unsigned>(file[at + i]);
  for (std::size_t digit = 0; digit < 6; ++digit, sum >>= 3)
    file[at + kTarCheckAt + 5 - digit] = static_cast<std::byte>('0' + (sum & 7));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gdelta::format;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  check_file({bytes, size});
  advice_on({bytes, size});
  if (size < 2) return 0;
  const std::size_t first = data[0], second = data[1];
  Bytes zip(bytes + 2, bytes + size);
  if (zip.size() >= 10 + first + second) {
    put(zip, 0, "PK\3\4", 4);
    put(zip, 8, "\0\0", 2);  // stored
    put(zip, 4 + first + second, "\x93NUMPY", 6);
    check_file(zip);
  }
  Bytes tar(bytes + 2, bytes + size);
  mend_tar_head(tar, 0);
  mend_tar_head(tar, std::min(tar.size(), 2 * kTarHeadBytes * (first % 8)));
  check_file(tar);
  return 0;
}
