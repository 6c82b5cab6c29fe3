#include "kernels/words/copy_tuples.h"

#include <cstring>

namespace gdelta {
namespace {

/// Tuples of kBytes, or of up to twice as many in two pieces that may overlap: so sizes are known when this is compiled.
template <std::size_t kBytes>
void copy_pieces(const unsigned char* from, std::size_t from_step, unsigned char* to,
                 std::size_t to_step, std::size_t tuple_bytes, std::size_t count) {
  if (tuple_bytes == kBytes) {
    for (; count > 0; --count, from += from_step, to += to_step) std::memcpy(to, from, kBytes);
    return;
  }
  const std::size_t second = tuple_bytes - kBytes;
  for (; count > 0; --count, from += from_step, to += to_step) {
    unsigned char pieces[2][kBytes];
    std::memcpy(pieces[0], from, kBytes);
    std::memcpy(pieces[1], from + second, kBytes);
    std::memcpy(to, pieces[0], kBytes);
    std::memcpy(to + second, pieces[1], kBytes);
  }
}

}  // namespace

void copy_tuples(const unsigned char* from, std::size_t from_step, unsigned char* to,
                 std::size_t to_step, std::size_t tuple_bytes, std::size_t count) {
  const auto copy = tuple_bytes < 2    ? copy_pieces<1>
                    : tuple_bytes < 4  ? copy_pieces<2>
                    : tuple_bytes < 8  ? copy_pieces<4>
                    : tuple_bytes < 16 ? copy_pieces<8>
                    : tuple_bytes < 32 ? copy_pieces<16>
                                       : copy_pieces<32>;
  if (tuple_bytes <= 64) return copy(from, from_step, to, to_step, tuple_bytes, count);
  for (; count > 0; --count, from += from_step, to += to_step) std::memcpy(to, from, tuple_bytes);
}

}  // namespace gdelta
