// maps/multiple.md
#include "plain_maps.h"

namespace plain_decoder {
namespace {

void read_fields(Input& fields, const Column& column, std::uint64_t, Map& map) {
  map.fields = {fields.varint()};
  require(map.fields[0] >= 2 && map.fields[0] <= column.mask(),
          "impossible step of a multiple map");
  map.fields.push_back(fields.number(column.bytes));
}

std::uint64_t undo(std::uint64_t word, const Map& map, const Column& column) {
  return (word * map.fields[0] + map.fields[1]) & column.mask();
}

}  // namespace

const ValueMap multiple_map{.fits = is_integer, .read_fields = read_fields, .undo = undo};

}  // namespace plain_decoder
