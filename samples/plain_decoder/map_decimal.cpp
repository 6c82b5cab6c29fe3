// maps/decimal.md
#include "plain_maps.h"

namespace plain_decoder {
namespace {

void read_fields(Input& fields, const Column&, std::uint64_t, Map& map) {
  map.fields = {fields.number(1)};
  require_known(map.fields[0] <= 22, "more digits than are known");
}

std::uint64_t undo(std::uint64_t word, const Map& map, const Column& column) {
  double power = 1;
  for (std::uint64_t i = 0; i < map.fields[0]; ++i) power *= 10;
  return nearest_float(static_cast<double>(signed_number(word, column)) / power, column);
}

}  // namespace

const ValueMap decimal_map{.fits = is_long_float, .read_fields = read_fields, .undo = undo};

}  // namespace plain_decoder
