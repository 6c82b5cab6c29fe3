// Faults of multiples.

#include "codec/faults/fault_parts.h"
#include "stages/registry.h"

namespace gdelta::faults {

namespace {

FaultTable::Change put_fields(const Varint& step, std::uint64_t offset, int value_bytes) {
  Bytes fields;
  append(fields, step);
  format::append_le(fields, value_bytes, offset);
  return [fields](StreamFields& s) { model(s).maps[0].fields = fields; };
}

}  // namespace

void add_faults_of_multiple(FaultTable& table) {
  using plain::multiple;
  add_wrong_types(table, multiple(3), {"f32", "f64", "f16"});
  for (const Coder coder : test::plain_coders())
    for (const auto& [type, bytes] :
         {std::pair{"i8", 1}, {"u16", 2}, {"i24", 3}, {"i32", 4}, {"u64", 8}}) {
      const std::string of = std::string(" of ") + type;
      const std::uint64_t most = ~0ull >> (64 - 8 * bytes);
      const auto stream = [&, type = type](const plain::LaneChoice& map) {
        return mapped_stream(type, 140, coder, {map});
      };
      const StreamFields good = stream(multiple(3, 1));
      const auto add = [&](const std::string& name, const FaultTable::Change& change) {
        table.add(named(name + of, coder), good, change, Errc::corrupt, Place::chunk);
      };
      table.add_good(named("multiples of 2" + of, coder), stream(multiple(2)));
      table.add_good(named("multiples of most" + of, coder), stream(multiple(most)));
      for (const std::uint64_t step : {0, 1})
        add("multiples of " + std::to_string(step), put_chunk_of(stream(multiple(step))));
      if (most != ~0ull)
        for (const std::uint64_t more : {most + 1, most + 4, (std::uint64_t{1} << 63) + 3})
          add("multiples of " + std::to_string(more), put_fields(more, 1, bytes));
      add("longer step of multiples", put_fields({3, true}, 1, bytes));
    }
}

}  // namespace gdelta::faults
