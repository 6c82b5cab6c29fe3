// Faults in the fields of linear prediction; fault_cases.h says how they are made. Where it can be, a stream
// decodes as it should but for the rule that it breaks.
#pragma once

#include "codec/faults/fault_table.h"
#include "stages/registry.h"

namespace gdelta::faults {

namespace detail {

inline StreamFields linear_stream(const char* record, std::size_t records,
                                  const plain::LinearPlainModel& linear,
                                  Coder coder = Coder::pack) {
  return wandering_stream(record, records, [&](const Column& column) {
    return plain::predicted(coder, column, linear);
  });
}

/// Where the fields of lane 1 begin behind a lane of so many own taps.
constexpr std::size_t lane_1_at(std::size_t own) { return 2 + 3 + 3 * own; }

inline void add_linear_faults(FaultTable& table) {
  constexpr auto kUnsupported = Errc::unsupported_feature;
  const auto add = [&](const std::string& name, const StreamFields& good,
                       const FaultTable::Change& change, Errc code = Errc::corrupt) {
    table.add(name, good, change, code, Place::chunk);
  };
  const auto set = [](std::size_t at, int value) {
    return [at, value](StreamFields& s) { model(s).linear[at] = static_cast<std::byte>(value); };
  };
  for (const Coder coder : test::plain_coders()) {
    const std::string of = " of linear prediction, " + std::string(coder_name(coder));
    // 3 own taps; lane 1 looks at lane 0, too. The table ends inside a byte.
    plain::LinearPlainModel linear = plain::linear_model(2, 3, 2, 9, 5);
    linear.lanes[1].taps[0].width = 4;
    const StreamFields good = linear_stream("i16x2", 300, linear, coder);
    table.add_good("linear" + of, good);
    const std::size_t good_bytes = good.chunks[1].models[0].linear.size();
    const auto other = [&](const std::string& name, auto change, Errc code) {
      plain::LinearPlainModel changed = linear;
      change(changed);
      add(name + of, good, put_chunk_of(linear_stream("i16x2", 300, changed, coder)), code);
    };
    for (const int run_bits : {7, 17})
      other(
          "run_bits " + std::to_string(run_bits), [=](auto& l) { l.run_bits = run_bits; },
          kUnsupported);
    for (const int run_bits : {0, 255})
      add("run_bits " + std::to_string(run_bits) + of, good, set(0, run_bits), kUnsupported);
    for (const int reading : {2, 255})
      add("reading " + std::to_string(reading) + of, good, set(1, reading), kUnsupported);
    other(
        "shift 16", [](auto& l) { l.lanes[1].shift = 16; }, kUnsupported);
    add("shift 255" + of, good, set(4, 255), kUnsupported);
    for (const int sources : {3, 255})
      add(std::to_string(sources) + " sources" + of, good, set(lane_1_at(3) + 1, sources),
          kUnsupported);
    add("a source of the first lane" + of, good, set(3, 1));
    for (const int source : {1, 2, 255})
      add("source " + std::to_string(source) + " of lane 1" + of, good,
          set(lane_1_at(3) + 3, source));
    add("a source without taps" + of, good, set(lane_1_at(3) + 4, 0));
    add("255 taps of a source" + of, good, set(lane_1_at(3) + 4, 255), kUnsupported);
    other(
        "33 taps",
        [](auto& l) {
          l.lanes[0].own = 33;
          l.lanes[0].taps.resize(33);
        },
        kUnsupported);
    other(
        "30 taps, and 3 of a source",
        [](auto& l) {
          l.lanes[1].own = 30;
          l.lanes[1].sources[0].second = 3;
          l.lanes[1].taps.resize(33);
        },
        kUnsupported);
    other(
        "a width of 17", [](auto& l) { l.lanes[1].taps[4].width = 17; }, kUnsupported);
    add("a width of 255" + of, good, set(lane_1_at(3) + 5 + 3 * 4 + 2, 255), kUnsupported);
    add("a bit behind the last coefficient" + of, good,
        [](auto& s) { model(s).linear.back() |= std::byte{0x80}; });
    // It is taken for what follows: of ans that is a number of slots.
    add(
        "a table with a byte too many" + of, good,
        [](auto& s) { model(s).linear.push_back(std::byte{1}); },
        coder == Coder::ans ? kUnsupported : Errc::corrupt);
    // The model ends before the table, before a lane, in the midst of one, and before its fields.
    for (const std::size_t there : {good_bytes - 1, lane_1_at(3), lane_1_at(3) + 4, std::size_t{1}})
      add("fields that end after " + std::to_string(there) + " bytes" + of, good, [there](auto& s) {
        const int before = format::varint_bytes(model(s).column_bytes.value) + 4;
        model(s).bytes_there = static_cast<std::size_t>(before) + there;
      });
  }
  const plain::LinearPlainModel three = [] {
    plain::LinearPlainModel linear = plain::linear_model(3, 2, 2, 9, 3);
    linear.lanes[2].sources = {{0, 1}, {1, 1}};
    return linear;
  }();
  const StreamFields good = linear_stream("i16x3", 270, three);
  table.add_good("linear, of two sources", good);
  const auto with_sources = [&](std::vector<std::pair<int, int>> sources) {
    plain::LinearPlainModel linear = three;
    linear.lanes[2].sources = std::move(sources);
    return put_chunk_of(linear_stream("i16x3", 270, linear));
  };
  add("linear: sources that fall", good, with_sources({{1, 1}, {0, 1}}));
  add("linear: a source twice", good, with_sources({{1, 1}, {1, 1}}));
}

}  // namespace detail

}  // namespace gdelta::faults
