// maps/multiple.md
#include "plain_maps.h"

namespace plain_decoder {
namespace {

void read_fields(Input& fields, const Column& column, std::uint64_t, Map& map) {
  map.step = fields.varint();
  require(map.step >= 2 && map.step <= column.mask(), "impossible step of a multiple map");
  map.offset = fields.number(column.bytes);
}

std::uint64_t undo(std::uint64_t word, const Map& map, const Column& column) {
  return (word * map.step + map.offset) & column.mask();
}

}  // namespace

const ValueMap multiple_map{.fits = is_integer, .read_fields = read_fields, .undo = undo};

}  // namespace plain_decoder
