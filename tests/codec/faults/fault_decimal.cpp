// Faults of decimals.

#include "codec/faults/fault_parts.h"
#include "stages/registry.h"

namespace gdelta::faults {

void add_faults_of_decimal(FaultTable& table) {
  using plain::decimal;
  add_wrong_types(table, decimal(1), {"i32", "f16"});
  for (const Coder coder : test::plain_coders())
    for (const char* type : {"f32", "f64"}) {
      const auto name = [&](int digits) {
        return named(std::to_string(digits) + " digits of " + type, coder);
      };
      const StreamFields most = mapped_stream(type, 140, coder, {decimal(22)});
      table.add_good(name(22), most);
      for (const int digits : {23, 255})
        table.add(
            name(digits), most, [=](auto& s) { model(s).maps[0].fields = bytes_of({digits}); },
            Errc::unsupported_feature, Place::chunk);
    }
}

}  // namespace gdelta::faults
