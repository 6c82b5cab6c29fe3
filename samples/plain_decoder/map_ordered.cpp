// maps/ordered.md
#include "plain_maps.h"

namespace plain_decoder {
namespace {

std::uint64_t undo(std::uint64_t word, const Map&, const Column& column) {
  const std::uint64_t sign = column.mask() ^ (column.mask() >> 1);
  return word ^ ((word & sign) != 0 ? sign : column.mask());
}

}  // namespace

const ValueMap ordered_map{.fits = is_any_float, .undo = undo};

}  // namespace plain_decoder
