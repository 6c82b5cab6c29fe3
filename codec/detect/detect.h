// What a bare stream of bytes is made of, found from its beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gdelta/types.h"

namespace gdelta {

/// How much of a stream detection looks at.
inline constexpr std::size_t kMostSampleBytes = std::size_t{4} << 20;

/// What looking took, counted rather than timed.
struct DetectionWork {
  std::uint64_t groups = 0;  ///< of 128 residuals or fewer, whose packed size was worked out
};

/// Type, tuple and byte order that let the values of a stream be predicted best: one column, u8 x 1
/// if the bytes are text or nothing pays, or, from level 3 on, if phrases that begin at any byte, as in programs, make zstd
/// take much less than packed values and than zstd takes of values. Signedness cannot be told and does not matter: integers
/// of more than one byte come out signed.
/// Shapes      sample: the first bytes of the stream, at record boundaries if it is to be found;
///             what lies beyond kMostSampleBytes is ignored
///             level: 1 … 9, as of compression; how hard to look
///             work: added to, if there is one
/// Complexity  about what compressing takes at most: at levels 1 and 2 some hundredths of a millisecond on
///             one core, .2 at most, at the others a few milliseconds at most, whatever the size; some hundred
///             KiB of scratch
/// Threads     any number of calls at once; the same answer on every machine
Layout detect_layout(std::span<const std::byte> sample, int level, DetectionWork* work = nullptr);

}  // namespace gdelta
