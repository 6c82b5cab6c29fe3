// Faults of maps, whichever they are: of their numbers, and of exceptions.

#include "codec/faults/fault_parts.h"
#include "stages/registry.h"

namespace gdelta::faults {

StreamFields mapped_stream(const char* record, std::size_t records, Coder coder,
                           const std::vector<plain::LaneChoice>& maps,
                           const std::vector<plain::StepChoice>& steps,
                           const plain::detail::Planted& planted,
                           const std::set<std::uint64_t>& exceptions) {
  const Layout layout = parse_record(record).value();
  plain::Choice choice = plain::detail::mapped_by(coder, maps, steps)(layout.columns[0]);
  choice.exceptions = exceptions;
  choice.model.section.part_groups = 1;  // two parts, whose ends are said
  Bytes values = plain::wandering_values(layout, records, 5, 7);
  plain::detail::give_back(values, layout, 0, choice, value_bits(layout.columns[0].type) / 2,
                           planted);
  return stream_of(layout, values, {choice});
}

std::string named(const std::string& what, Coder coder) {
  return what + " of " + std::string(coder_name(coder));
}

void add_cut_models(FaultTable& table, const std::string& name, const StreamFields& good) {
  StreamFields fields = good;
  Bytes front;
  append_front(front, model(fields));
  const std::size_t before =
      1 + static_cast<std::size_t>(format::varint_bytes(model(fields).column_bytes.value));
  for (std::size_t there = before; there < before + front.size(); ++there)
    table.add(
        name + ", cut to " + std::to_string(there) + " bytes", good,
        [there](auto& s) { model(s).bytes_there = there; }, Errc::corrupt, Place::chunk);
}

void add_wrong_types(FaultTable& table, const plain::LaneChoice& map,
                     std::initializer_list<const char*> types) {
  for (const Coder coder : test::plain_coders())
    for (const char* type : types) {
      const auto add = [&](const std::string& what, const std::string& record,
                           const std::vector<plain::LaneChoice>& none,
                           const std::vector<plain::LaneChoice>& maps) {
        table.add(named(std::string(map_name(map.map)) + " map of " + type + what, coder),
                  mapped_stream(record.c_str(), 140, coder, none),
                  put_chunk_of(mapped_stream(record.c_str(), 140, coder, maps)), Errc::corrupt,
                  Place::chunk);
      };
      add("", type, {{}}, {map});
      add(" in a lane", std::string(type) + "x2", {{}, {}}, {{}, map});
    }
}

namespace {

using plain::decimal;
using plain::scaled;

void add_number_faults(FaultTable& table) {
  for (const Coder coder : test::plain_coders()) {
    const StreamFields lanes =
        mapped_stream("f32x4", 140, coder, {decimal(2), {}, scaled(0.25), {ValueMap::ordered}});
    table.add_good(named("maps by lane", coder), lanes);
    for (const int map : {kNumValueMaps, 254, 255})
      for (const std::size_t lane : {0, 3})
        table.add(
            named("map " + std::to_string(map) + " in lane " + std::to_string(lane), coder), lanes,
            [=](auto& s) { model(s).maps[lane].number = map; }, Errc::unsupported_feature,
            Place::chunk);
    add_cut_models(table, named("maps by lane", coder), lanes);
  }
}

StreamFields few_exceptions(Coder coder) {
  constexpr std::uint64_t kNan = 0x7fc00001;
  return mapped_stream("f32x2", 140, coder, {decimal(1)}, {},
                       {{0, kNan}, {5, 0x80000000}, {6, 0x7f800000}, {279, kNan}});
}

/// Numbers of exceptions that are not those behind the section.
void add_exception_number_faults(FaultTable& table, Coder coder) {
  const auto add = [&](const std::string& name, const StreamFields& good,
                       const FaultTable::Change& change, Errc code = Errc::corrupt) {
    table.add(named(name, coder), good, change, code, Place::chunk);
  };
  const StreamFields none = mapped_stream("f32x2", 140, coder, {decimal(1)});
  table.add_good(named("no exceptions", coder), none);
  add("an exception without bytes", none, [](auto& s) { model(s).exceptions = 1; });
  add("longer number of exceptions", none, [](auto& s) { model(s).exceptions = Varint(0, true); });
  // It is taken for the lane map, the lane map for the predictor, the predictor for the coder's fields.
  add(
      "exceptions of a map without fields",
      mapped_stream("f32x2", 140, coder, {{ValueMap::ordered}}),
      [](auto& s) { model(s).exceptions = 0; },
      coder == Coder::ans ? Errc::unsupported_feature : Errc::corrupt);
  const StreamFields few = few_exceptions(coder);
  table.add_good(named("exceptions", coder), few);
  add_cut_models(table, named("exceptions", coder), few);
  add("an exception less", few, [](auto& s) { model(s).exceptions = 3; });
  add("an exception more", few, [](auto& s) { model(s).exceptions = 5; });
  add("parts that end behind the exceptions", few,
      [](auto& s) { model(s).part_ends.back() = model(s).column_bytes.value; });
}

void add_exception_place_faults(FaultTable& table, Coder coder) {
  const StreamFields few = few_exceptions(coder);
  const auto put_place = [](std::size_t number, std::uint64_t place) {
    return [=](StreamFields& s) {
      const std::size_t at = model(s).part_ends.back() + 4 * number;
      for (std::size_t b = 0; b < 4; ++b)
        chunk(s).payload[at + b] = static_cast<std::byte>(place >> (8 * b));
    };
  };
  for (const auto& [number, place] : {std::pair{1, 0ull},
                                      {2, 5ull},
                                      {2, 4ull},
                                      {0, 5ull},
                                      {0, 279ull},
                                      {0, 1ull << 31},
                                      {3, 6ull},
                                      {3, 280ull},
                                      {3, 281ull},
                                      {3, 0xffffffffull}})
    table.add(
        named("exception " + std::to_string(number) + " in place " + std::to_string(place), coder),
        few, put_place(static_cast<std::size_t>(number), place), Errc::corrupt, Place::exceptions);
  table.add(
      named("a value of an exception", coder), few,
      [](auto& s) { chunk(s).payload.back() ^= std::byte{1}; }, Errc::corrupt, Place::second_part);
}

/// More exceptions than there may be.
void add_exception_limit_faults(FaultTable& table, Coder coder) {
  const auto add = [&](const std::string& name, const StreamFields& good,
                       const FaultTable::Change& change, Errc code = Errc::corrupt) {
    table.add(named(name, coder), good, change, code, Place::chunk);
  };
  const StreamFields few = few_exceptions(coder);
  std::set<std::uint64_t> every;
  for (std::uint64_t place = 0; place < 280; ++place) every.insert(place);
  const StreamFields all = mapped_stream("f32x2", 140, coder, {scaled(3)}, {}, {}, every);
  table.add_good(named("exceptions alone", coder), all);
  add("an exception more than values", all, [](auto& s) {
    model(s).exceptions = 281;
    model(s).column_bytes.value += 8;
    chunk(s).payload.resize(chunk(s).payload.size() + 8);
  });
  for (const int bits : {32, 61, 63})  // 8 bytes times as many are none in 64 bits
    add("2^" + std::to_string(bits) + " exceptions more", few,
        [bits](auto& s) { model(s).exceptions->value += 1ull << bits; });
  // The first fault counts.
  add("more exceptions than there is room for, and an unknown predictor", few, [](auto& s) {
    model(s).exceptions = 280;
    model(s).predictor = kNumPredictors;
  });
  add("more exceptions than values, and an unknown lane map", all, [](auto& s) {
    model(s).exceptions = 281;
    model(s).column_bytes.value += 8;
    chunk(s).payload.resize(chunk(s).payload.size() + 8);
    model(s).lane_map = kNumLaneMaps;
  });
  add(
      "an unknown number of digits of too many exceptions", few,
      [](auto& s) {
        model(s).maps[0].fields = bytes_of({23});
        model(s).exceptions = 1000;
      },
      Errc::unsupported_feature);
}

void add_exception_faults(FaultTable& table) {
  for (const Coder coder : test::plain_coders()) {
    add_exception_number_faults(table, coder);
    add_exception_place_faults(table, coder);
    add_exception_limit_faults(table, coder);
  }
  table.add(
      "a place that falls, and a damaged page in the next column",
      [] {
        const Layout layout = parse_record("f32,u8").value();
        const plain::Choice packed = plain::linked(Coder::pack, layout.columns[1], {0});
        plain::Choice choice =
            plain::detail::mapped_by(Coder::pack, {decimal(1)})(layout.columns[0]);
        choice.exceptions = {3, 4};
        return stream_of(layout, plain::wandering_values(layout, 20, 5, 7), {choice, packed});
      }(),
      [](auto& s) {
        const std::size_t at = model(s).part_ends.back();
        chunk(s).payload[at] = std::byte{200};
        chunk(s).payload[static_cast<std::size_t>(model(s).column_bytes.value)] = std::byte{0x7f};
      },
      Errc::corrupt, Place::exceptions);
}

}  // namespace

void add_faults_of_maps(FaultTable& table) {
  add_number_faults(table);
  add_exception_faults(table);
}

}  // namespace gdelta::faults
