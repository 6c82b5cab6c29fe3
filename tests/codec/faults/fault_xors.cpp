// Faults of xors of lanes.

#include "codec/faults/fault_parts.h"
#include "stages/registry.h"

namespace gdelta::faults {

void add_faults_of_xors(FaultTable& table) {
  for (const Coder coder : test::plain_coders()) {
    StreamFields good = mapped_stream("i16x3", 140, coder, {});
    model(good).lane_map = static_cast<int>(LaneMap::xors);
    const auto put = [](std::initializer_list<int> sources) {
      return [fields = bytes_of(sources)](StreamFields& s) { model(s).lane_map_fields = fields; };
    };
    put({0, 0})(good);
    table.add_good(named("xors of no lanes", coder), good);
    table.add(named("a lane with itself", coder), good, put({2, 0}), Errc::corrupt, Place::chunk);
    table.add(named("a lane with a later one", coder), good, put({0, 255}), Errc::corrupt,
              Place::chunk);
  }
}

}  // namespace gdelta::faults
