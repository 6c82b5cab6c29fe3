// maps/rotated.md
#include "plain_maps.h"

namespace plain_decoder {
namespace {

void read_fields(Input& fields, const Column& column, std::uint64_t, Map& map) {
  map.fields = {fields.number(1)};
  require(map.fields[0] >= 1 && map.fields[0] < 8 * std::uint64_t(column.bytes),
          "impossible bits of a rotated map");
}

std::uint64_t undo(std::uint64_t word, const Map& map, const Column& column) {
  const std::uint64_t left = 8 * std::uint64_t(column.bytes) - map.fields[0];
  return ((word >> map.fields[0]) | (word << left)) & column.mask();
}

}  // namespace

const ValueMap rotated_map{.fits = is_any_type, .read_fields = read_fields, .undo = undo};

}  // namespace plain_decoder
