// Faults of scaled floats.

#include <limits>

#include "codec/faults/fault_parts.h"
#include "stages/registry.h"

namespace gdelta::faults {

void add_faults_of_scaled(FaultTable& table) {
  using plain::scaled;
  using Limits = std::numeric_limits<double>;
  add_wrong_types(table, scaled(0.5), {"i32", "bf16"});
  for (const Coder coder : test::plain_coders())
    for (const char* type : {"f32", "f64"}) {
      const std::string of = std::string(" of ") + type;
      const auto stream = [&](double step) {
        return mapped_stream(type, 140, coder, {scaled(step)});
      };
      const StreamFields step = stream(0.3);
      table.add_good(named("a least step" + of, coder), stream(Limits::min()));
      table.add_good(named("a largest step" + of, coder), stream(Limits::max()));
      for (const double scale :
           {0.0, -0.0, -0.3, -Limits::min(), Limits::infinity(), -Limits::infinity(),
            Limits::denorm_min(), Limits::min() / 2, Limits::quiet_NaN(), -Limits::quiet_NaN()})
        table.add(
            named("a step of " + std::to_string(std::bit_cast<std::uint64_t>(scale)) + of, coder),
            step, put_chunk_of(stream(scale)), Errc::corrupt, Place::chunk);
    }
}

}  // namespace gdelta::faults
