// maps/scaled.md
#include <bit>
#include <cmath>

#include "plain_maps.h"

namespace plain_decoder {
namespace {

double step_of(const Map& map) { return std::bit_cast<double>(map.fields[0]); }

void read_fields(Input& fields, const Column&, std::uint64_t, Map& map) {
  map.fields = {fields.number(8)};
  require(std::isnormal(step_of(map)) && step_of(map) > 0, "impossible step of a scaled map");
}

std::uint64_t undo(std::uint64_t word, const Map& map, const Column& column) {
  return nearest_float(static_cast<double>(signed_number(word, column)) * step_of(map), column);
}

}  // namespace

const ValueMap scaled_map{.fits = is_long_float, .read_fields = read_fields, .undo = undo};

}  // namespace plain_decoder
