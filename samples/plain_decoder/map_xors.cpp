// maps/xors.md
#include "plain_maps.h"

namespace plain_decoder {

std::function<void(std::vector<Lane>&)> read_xors(Input& fields, const Column& column) {
  std::vector<std::uint64_t> sources;
  for (int lane = 1; lane < column.tuple; ++lane) sources.push_back(fields.number(1));
  for (std::size_t lane = 1; lane <= sources.size(); ++lane)
    require(sources[lane - 1] <= lane, "no earlier lane");
  return [sources](std::vector<Lane>& lanes) {
    for (std::size_t lane = 1; lane < lanes.size(); ++lane)
      for (std::size_t i = 0; sources[lane - 1] > 0 && i < lanes[lane].size(); ++i)
        lanes[lane][i] ^= lanes[sources[lane - 1] - 1][i];
  };
}

}  // namespace plain_decoder
