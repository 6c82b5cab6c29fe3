// maps/rotated.md
#include "plain_maps.h"

namespace plain_decoder {
namespace {

std::uint64_t undo(std::uint64_t word, const Map&, const Column& column) {
  return (word >> 1) | ((word & 1) != 0 ? column.mask() ^ (column.mask() >> 1) : 0);
}

}  // namespace

const ValueMap rotated_map{.fits = is_any_type, .undo = undo};

}  // namespace plain_decoder
