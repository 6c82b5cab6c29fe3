// Faults of maps: which they are, what they need to know, exceptions and steps of lanes.

#include <limits>

#include "codec/faults/fault_parts.h"
#include "golden/golden_parts.h"
#include "stages/registry.h"

namespace gdelta::faults {

namespace {

using plain::decimal;
using plain::LaneChoice;
using plain::multiple;
using plain::scaled;
using plain::StepChoice;

/// A chunk of one column whose maps give most of its values back, but for those that are planted.
StreamFields mapped_stream(const char* record, std::size_t records, Coder coder,
                           const std::vector<LaneChoice>& maps,
                           const std::vector<StepChoice>& steps = {},
                           const plain::detail::Planted& planted = {},
                           const std::set<std::uint64_t>& exceptions = {}) {
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

/// The model with fields behind its front that are not there.
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

void add_map_faults(FaultTable& table) {
  for (const Coder coder : test::plain_coders()) {
    const auto add = [&](const std::string& name, const StreamFields& good,
                         const FaultTable::Change& change, Errc code = Errc::corrupt) {
      table.add(named(name, coder), good, change, code, Place::chunk);
    };
    const auto stream = [&](const char* record, const std::vector<LaneChoice>& maps) {
      return mapped_stream(record, 140, coder, maps);
    };
    const StreamFields lanes = stream("f32x4", {decimal(2), {}, scaled(0.25), {ValueMap::ordered}});
    table.add_good(named("maps by lane", coder), lanes);
    for (const int map : {kNumValueMaps, 254, 255})
      for (const std::size_t lane : {0, 3})
        add(
            "map " + std::to_string(map) + " in lane " + std::to_string(lane), lanes,
            [=](auto& s) { model(s).maps[lane].number = map; }, Errc::unsupported_feature);
    add_cut_models(table, named("maps by lane", coder), lanes);
    for (const auto& [type, map] : {std::pair{"i32", decimal(1)},
                                    {"i32", scaled(0.5)},
                                    {"f16", decimal(1)},
                                    {"bf16", scaled(0.5)},
                                    {"f32", multiple(3)},
                                    {"f64", multiple(3)},
                                    {"f16", multiple(3)}}) {
      const std::string name = std::string(map_name(map.map)) + " map of " + type;
      add(name, stream(type, {{}}), put_chunk_of(stream(type, {map})));
      const std::string pair = std::string(type) + "x2";
      add(name + " in a lane", stream(pair.c_str(), {{}, {}}),
          put_chunk_of(stream(pair.c_str(), {{}, map})));
    }
    add("ordered integers in a lane", stream("i16x2", {{}, {}}),
        put_chunk_of(stream("i16x2", {{}, {ValueMap::ordered}})));
    for (const char* type : {"f32", "f64"}) {
      const std::string of = std::string(" of ") + type;
      const StreamFields most = stream(type, {decimal(22)});
      table.add_good(named("22 digits" + of, coder), most);
      add("23 digits" + of, most, put_chunk_of(stream(type, {decimal(23)})),
          Errc::unsupported_feature);
      add(
          "255 digits" + of, most, [](auto& s) { model(s).maps[0].digits = 255; },
          Errc::unsupported_feature);
      using Limits = std::numeric_limits<double>;
      const StreamFields step = stream(type, {scaled(0.3)});
      table.add_good(named("a least step" + of, coder), stream(type, {scaled(Limits::min())}));
      table.add_good(named("a largest step" + of, coder), stream(type, {scaled(Limits::max())}));
      for (const double scale :
           {0.0, -0.0, -0.3, -Limits::min(), Limits::infinity(), -Limits::infinity(),
            Limits::denorm_min(), Limits::min() / 2, Limits::quiet_NaN(), -Limits::quiet_NaN()})
        add("a step of " + std::to_string(std::bit_cast<std::uint64_t>(scale)) + of, step,
            put_chunk_of(stream(type, {scaled(scale)})));
    }
    for (const auto& [type, most] : {std::pair{"i8", 0xffull},
                                     {"u16", 0xffffull},
                                     {"i24", 0xffffffull},
                                     {"i32", 0xffffffffull},
                                     {"u64", ~0ull}}) {
      const std::string of = std::string(" of ") + type;
      const StreamFields step = stream(type, {multiple(3, 1)});
      table.add_good(named("multiples of 2" + of, coder), stream(type, {multiple(2)}));
      table.add_good(named("multiples of most" + of, coder), stream(type, {multiple(most)}));
      add("multiples of 0" + of, step, put_chunk_of(stream(type, {multiple(0)})));
      add("multiples of 1" + of, step, put_chunk_of(stream(type, {multiple(1)})));
      if (most != ~0ull)
        for (const std::uint64_t more : {most + 1, most + 4, (1ull << 63) + 3})
          add("multiples of " + std::to_string(more) + of, step,
              [more](auto& s) { model(s).maps[0].step = more; });
      add("longer step of multiples" + of, step,
          [](auto& s) { model(s).maps[0].step.longer = true; });
    }
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
    model(s).lane_map = format::kNumLaneMaps;
  });
  add(
      "an unknown number of digits of too many exceptions", few,
      [](auto& s) {
        model(s).maps[0].digits = 23;
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

constexpr Column kLookedUp{ValueType::u64, 2, false};

/// Tables of 17 entries, in bins with 2 bits of selectors and offsets of 64, or by lzma.
LaneChoice table_in_bins() {
  return plain::dictionary(plain::detail::table_values(kLookedUp, 17), {0, 20, 40, 64});
}
LaneChoice table_by_lzma() {
  return plain::dictionary_by_lzma(plain::detail::table_values(kLookedUp, 17));
}

/// Two tables are the last bytes of the payload.
struct DictionaryFaults {
  FaultTable& table;
  Coder coder;
  std::string kind;
  LaneChoice dictionary;
  StreamFields good = mapped_stream("u64x2", 140, coder, {dictionary, dictionary}, {}, {}, {3, 4});
  std::size_t bytes = plain::detail::table_bytes(dictionary.table, kLookedUp).size();
  std::uint64_t second_at = good.chunks[1].payload.size() - bytes;
  std::uint64_t first_at = second_at - bytes;

  std::string name_of(const std::string& what) const { return named(what + kind, coder); }
  void add(const std::string& name, const FaultTable::Change& change,
           Errc code = Errc::corrupt) const {
    table.add(name_of(name), good, change, code, Place::chunk);
  }
  /// A fault of the table that begins there.
  void add_at(const std::string& name, const FaultTable::Change& change, std::uint64_t at) const {
    table.add_at(name_of(name), good, change, Errc::corrupt, at);
  }
  /// A field is changed, in one lane and in the other.
  template <class Member, class Value>
  void put(const std::string& name, Member member, Value value, Errc code = Errc::corrupt) const {
    for (const std::size_t lane : {0, 1})
      add(
          name + " in lane " + std::to_string(lane),
          [=](auto& s) { model(s).maps[lane].*member = value; }, code);
  }
};

void add_dictionary_field_faults(const DictionaryFaults& faults) {
  faults.put("no entries", &LaneMapFields::entries, Varint(0));
  faults.put("an entry more than an eighth of the tuples", &LaneMapFields::entries, Varint(18));
  faults.put("65537 entries", &LaneMapFields::entries, Varint(65537), Errc::unsupported_feature);
  faults.put("longer entries", &LaneMapFields::entries, Varint(17, true));
  faults.put("bytes for no more than selectors", &LaneMapFields::table_bytes, Varint(8 + 3));
  faults.put("more bytes than offsets take", &LaneMapFields::table_bytes,
             Varint(8 + 4 + 16 * 8 + 1));
  faults.put("a table without room", &LaneMapFields::table_bytes, Varint(8 + 4 + 16 * 8));
  faults.put("longer bytes of a table", &LaneMapFields::table_bytes, Varint(faults.bytes, true));
  faults.put("5 bits of selectors", &LaneMapFields::selector_bits, 5, Errc::unsupported_feature);
  for (const std::size_t bin : {0, 3})
    faults.add("a bin of 65 bits, number " + std::to_string(bin),
               [=](auto& s) { model(s).maps[1].bin_bits[bin] = 65; });
}

FaultTable::Change flip(std::uint64_t at, int bits) {
  return [=](StreamFields& s) {
    chunk(s).payload[static_cast<std::size_t>(at)] ^= static_cast<std::byte>(bits);
  };
}

void add_bin_faults(const DictionaryFaults& faults) {
  faults.add_at("another bin of the first table", flip(faults.first_at + 8, 1), faults.first_at);
  faults.add_at("another bin of the second table", flip(faults.second_at + 8 + 3, 0x80),
                faults.second_at);
}

/// The fault of the first lane counts.
void add_index_faults(const DictionaryFaults& faults) {
  const auto put_index = [](std::uint64_t number) {
    return [number](StreamFields& s) {
      const std::uint64_t values_at = model(s).part_ends.back() + 8;
      chunk(s).payload[static_cast<std::size_t>(values_at + 8 * number)] = std::byte{17};
    };
  };
  faults.add_at("an index of the first lane beyond its table", put_index(1), faults.first_at);
  faults.add_at("an index of the second lane beyond its table", put_index(0), faults.second_at);
  faults.add_at(
      "indices beyond both tables, and a damaged second one",
      [=](auto& s) {
        put_index(0)(s);
        put_index(1)(s);
        chunk(s).payload[static_cast<std::size_t>(faults.second_at + 8)] ^= std::byte{3};
      },
      faults.first_at);
  faults.table.add(
      faults.name_of("a place that falls, and an index beyond its table"), faults.good,
      [=](auto& s) {
        const std::uint64_t places_at = model(s).part_ends.back();
        chunk(s).payload[static_cast<std::size_t>(places_at)] = std::byte{9};
        chunk(s).payload[static_cast<std::size_t>(places_at + 8)] = std::byte{17};
      },
      Errc::corrupt, Place::exceptions);
}

/// What heads say of tables that a coder has made: up to 17 * 8 + 64 bytes.
void add_coded_table_field_faults(const DictionaryFaults& faults) {
  for (int coder = 1; coder <= kNumCoders; ++coder)
    if (coder == kNumCoders || !format::coder_traits(static_cast<Coder>(coder)).codes_tables)
      faults.put("coder " + std::to_string(coder), &LaneMapFields::table_coder, coder,
                 Errc::unsupported_feature);
  faults.put("coder 255", &LaneMapFields::table_coder, 255, Errc::unsupported_feature);
  faults.put("longer bytes", &LaneMapFields::table_bytes, Varint(faults.bytes, true));
  faults.put("a table without room", &LaneMapFields::table_bytes, Varint(17 * 8 + 64));
  const auto lengthen = [&](std::uint64_t bytes) {
    return [=](StreamFields& s) {
      const std::uint64_t more = bytes - faults.bytes;
      model(s).maps[1].table_bytes = bytes;
      model(s).column_bytes.value += more;
      chunk(s).payload.resize(chunk(s).payload.size() + static_cast<std::size_t>(more));
    };
  };
  faults.add("more bytes than a stream takes", lengthen(17 * 8 + 65));
  faults.add_at("zeros behind a stream", lengthen(17 * 8 + 64), faults.second_at);
}

/// Streams begin with a control byte and end with one that is zero.
void add_coded_table_faults(const DictionaryFaults& faults) {
  for (const auto& [name, at] : {std::pair{" of the first table", faults.first_at},
                                 {" of the second table", faults.second_at}}) {
    faults.add_at(std::string("another first chunk") + name, flip(at, 0xff), at);
    faults.add_at(std::string("no end") + name, flip(at + faults.bytes - 1, 1), at);
  }
  for (const std::size_t lane : {0, 1})
    faults.add_at(
        "a stream of 17 entries for 16 in lane " + std::to_string(lane),
        [=](auto& s) { model(s).maps[lane].entries = 16; },
        lane == 0 ? faults.first_at : faults.second_at);
}

/// Selectors and offsets with bits to spare.
void add_spare_bit_faults(FaultTable& table) {
  const auto short_column = parse_record("i32").value().columns[0];
  const auto odd = plain::dictionary(plain::detail::table_values(short_column, 6), {3, 31});
  const StreamFields padded = mapped_stream("i32", 140, Coder::pack, {odd});
  const std::size_t odd_bytes = plain::detail::table_bytes(odd.table, short_column).size();
  const std::uint64_t odd_at = padded.chunks[1].payload.size() - odd_bytes;
  table.add_good("a table with spare bits", padded);
  for (const auto& [what, at] :
       {std::pair{"selector", odd_at + 4}, {"offset", odd_at + odd_bytes - 1}})
    table.add_at(
        std::string("set bits behind the last ") + what, padded,
        [at = at](auto& s) { chunk(s).payload[static_cast<std::size_t>(at)] ^= std::byte{0x80}; },
        Errc::corrupt, odd_at);
}

void add_dictionary_faults(FaultTable& table) {
  for (const Coder coder : test::plain_coders()) {
    const DictionaryFaults in_bins{table, coder, "", table_in_bins()};
    add_dictionary_field_faults(in_bins);
    add_bin_faults(in_bins);
    const DictionaryFaults coded{table, coder, ", by lzma,", table_by_lzma()};
    add_coded_table_field_faults(coded);
    add_coded_table_faults(coded);
    for (const DictionaryFaults& faults : {in_bins, coded}) {
      table.add_good(faults.name_of("dictionaries"), faults.good);
      add_cut_models(table, faults.name_of("dictionaries"), faults.good);
      add_index_faults(faults);
    }
  }
  add_spare_bit_faults(table);
}

void add_step_faults(FaultTable& table) {
  for (const Coder coder : test::plain_coders()) {
    const auto add = [&](const std::string& name, const StreamFields& good,
                         const FaultTable::Change& change, Errc code = Errc::corrupt) {
      table.add(named(name, coder), good, change, code, Place::chunk);
    };
    const auto stream = [&](const char* record, const std::vector<StepChoice>& steps) {
      return mapped_stream(record, 140, coder, {}, steps);
    };
    const StreamFields two = stream("i16x3", {{2, 0, 0}, {1, 0, 2}});
    table.add_good(named("steps", coder), two);
    add_cut_models(table, named("steps", coder), two);
    add("no steps", stream("i16x3", {}), [](auto& s) { model(s).lane_map = 1; });
    const std::vector<StepChoice> most(64, {2, 0, 0});
    table.add_good(named("64 steps", coder), stream("i16x3", most));
    std::vector<StepChoice> more = most;
    more.push_back({0, 1, 0});
    add("65 steps", stream("i16x3", most), put_chunk_of(stream("i16x3", more)),
        Errc::unsupported_feature);
    for (const int steps : {65, 255})
      add(
          std::to_string(steps) + " steps, two of them there", two,
          [steps](auto& s) { model(s).num_steps = steps; }, Errc::unsupported_feature);
    for (const int steps : {1, 3})
      add(std::to_string(steps) + " steps, two of them there", two,
          [steps](auto& s) { model(s).num_steps = steps; });
    for (const std::size_t step : {0, 1}) {
      const std::string of = " in step " + std::to_string(step);
      for (const int lane : {3, 64, 255}) {
        add("target " + std::to_string(lane) + of, two,
            [=](auto& s) { model(s).steps[step].target = lane; });
        add("source " + std::to_string(lane) + of, two,
            [=](auto& s) { model(s).steps[step].source = lane; });
      }
      add("a lane of itself" + of, two,
          [=](auto& s) { model(s).steps[step].target = model(s).steps[step].source; });
      for (const int kind : {3, 0x80, 255})
        add(
            "kind " + std::to_string(kind) + of, two,
            [=](auto& s) { model(s).steps[step].kind = kind; }, Errc::unsupported_feature);
    }
    add("an unknown kind of a lane that is not there", two, [](auto& s) {
      model(s).steps[0].source = 3;
      model(s).steps[0].kind = 3;
    });
    add("a step of a single lane", stream("i16", {}), [](auto& s) {
      model(s).lane_map = 1;
      model(s).steps = {{0, 0, 0}};
    });
    add("a lane that is not there, and an unknown predictor", two, [](auto& s) {
      model(s).steps[1].target = 3;
      model(s).predictor = kNumPredictors;
    });
  }
}

}  // namespace

void add_faults_of_maps(FaultTable& table) {
  add_map_faults(table);
  add_exception_faults(table);
  add_dictionary_faults(table);
  add_step_faults(table);
}

}  // namespace gdelta::faults
