// Faults of rotated values.

#include "codec/faults/fault_parts.h"
#include "stages/registry.h"

namespace gdelta::faults {

void add_faults_of_rotated(FaultTable& table) {
  for (const Coder coder : test::plain_coders()) {
    const StreamFields good = mapped_stream("i16x2", 140, coder, {{ValueMap::rotated, 5}});
    table.add_good(named("rotated", coder), good);
    add_cut_models(table, named("rotated", coder), good);
    for (const int bits : {0, 16, 255})
      table.add(
          named("rotated by " + std::to_string(bits), coder), good,
          [bits](auto& s) { model(s).maps[1].fields = bytes_of({bits}); }, Errc::corrupt,
          Place::chunk);
  }
}

}  // namespace gdelta::faults
