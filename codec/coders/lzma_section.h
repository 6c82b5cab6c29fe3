// The lzma coder's section: residuals as bytes, in streams of LZMA2. Spec: coders/lzma.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gdelta {

class Work;

/// How hard liblzma looks for matches.
enum class LzmaEffort : std::uint8_t {
  quick,  // what a trial can afford
  most,   // what sections are made with
};

/// What the bytes of a stream are.
struct LzmaTuples {
  int width = 1;  ///< bytes of a number
  int tuple = 1;  ///< numbers
};

/// Appends one stream of `bytes`, tuples of numbers of `width` bytes each. What a byte is foretold by is found out: by
/// its place in a number or in a tuple, or by the byte before it; not if there are few and the first try takes a lot more than is wanted.
void encode_lzma_stream(std::span<const unsigned char> bytes, LzmaTuples tuples, LzmaEffort effort,
                        std::vector<std::byte>& section, Work* work = nullptr,
                        std::uint64_t wanted = ~std::uint64_t{0});

/// Whether `stream` is one stream that decodes to exactly out.size() bytes.
bool decode_lzma_stream(std::span<const unsigned char> stream, std::span<unsigned char> out,
                        Work* work = nullptr);

}  // namespace gdelta
