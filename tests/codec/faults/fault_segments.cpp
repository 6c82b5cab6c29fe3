// Faults in chunks that say their segments; fault_cases.h says how they are made.

#include "codec/faults/fault_parts.h"
#include "stages/registry.h"

namespace gdelta::faults {

namespace {

/// i16x2 in segments of these lengths; the lengths themselves as `of_lengths` has them.
StreamFields segment_stream(const std::vector<std::uint64_t>& lengths, Coder coder = Coder::pack,
                            const plain::Choice& of_lengths = plain::raw(),
                            bool says_states = false) {
  std::size_t records = 0;
  for (const std::uint64_t length : lengths) records += length;
  StreamFields stream = wandering_stream("i16x2", records, [&](const Column& column) {
    return plain::inside(coder, column, {lengths, {1}, 1, says_states});
  });
  const plain::ChunkSegments segments{
      .lengths = lengths, .continues = false, .goes_on = false, .choice = of_lengths};
  const plain::Section section =
      plain::encode_column(segments.bytes(), format::kLengthColumn, of_lengths);
  ChunkFields& fields = chunk(stream);
  fields.kinds = format::kSegmentedKinds;
  fields.segments = {lengths.size(), 0, model_of(format::kLengthColumn, of_lengths, section)};
  Bytes payload = section.column();
  append(payload, fields.payload);
  fields.payload = payload;
  return stream;
}

/// Changes the raw lengths and all that depends on them, but for the values.
void set_lengths(StreamFields& stream, const std::vector<std::uint64_t>& lengths) {
  const plain::ChunkSegments segments{
      .lengths = lengths, .continues = false, .goes_on = false, .choice = plain::raw()};
  const plain::Section section =
      plain::encode_column(segments.bytes(), format::kLengthColumn, plain::raw());
  ChunkFields& fields = chunk(stream);
  const std::uint64_t before = fields.segments->model.column_bytes.value;
  fields.payload.erase(fields.payload.begin(),
                       fields.payload.begin() + static_cast<std::ptrdiff_t>(before));
  Bytes payload = section.column();
  append(payload, fields.payload);
  fields.payload = payload;
  fields.segments = {lengths.size(), 0, model_of(format::kLengthColumn, plain::raw(), section)};
}

void add_segment_head_faults(FaultTable& table) {
  const std::vector<std::uint64_t> lengths{0, 5, 130, 1, 0, 4};
  const StreamFields good = segment_stream(lengths);
  const auto add = [&](const std::string& name, const FaultTable::Change& change,
                       Errc code = Errc::corrupt) {
    table.add(name + ", segments", good, change, code, Place::chunk);
  };
  table.add_good("segments", good);
  add("no lengths", [](auto& s) { chunk(s).segments->lengths = 0; });
  for (const std::uint64_t more : {std::uint64_t{1}, std::uint64_t{1} << 26, ~std::uint64_t{6}})
    add("lengths more by " + std::to_string(more),
        [=](auto& s) { chunk(s).segments->lengths.value += more; });
  add("longer number of lengths", [](auto& s) { chunk(s).segments->lengths.longer = true; });
  add("a length less", [](auto& s) { chunk(s).segments->lengths.value -= 1; });
  for (const int joins : {1, 3})
    add("a first segment that continues none, joins " + std::to_string(joins),
        [=](auto& s) { chunk(s).segments->joins = joins; });
  for (const int joins : {4, 128, 255})
    add(
        "joins " + std::to_string(joins), [=](auto& s) { chunk(s).segments->joins = joins; },
        Errc::unsupported_feature);
  table.add(
      "a last segment that goes on nowhere", good, [](auto& s) { chunk(s).segments->joins = 2; },
      Errc::corrupt, Place::end);
  table.add(
      "opaque bytes in segments", opaque_stream(),
      [](auto& s) { chunk(s).kinds = format::kSegmentedKinds; }, Errc::unsupported_feature,
      Place::chunk);
  for (const int kinds : {0x11, 0x20, 0xf0})
    add(
        "kinds " + std::to_string(kinds), [=](auto& s) { chunk(s).kinds = kinds; },
        Errc::unsupported_feature);
  add("no records but models", [](auto& s) { chunk(s).records = 0; });
  table.add(
      "a record more, segments", good, [](auto& s) { ++chunk(s).records.value; }, Errc::corrupt,
      Place::first_part);
  add("lengths predicted inside of segments", [](auto& s) {
    ModelFields& model = chunk(s).segments->model;
    const StreamFields packed =
        segment_stream({3, 4}, Coder::pack, plain::linked(Coder::pack, format::kLengthColumn, {1}));
    model = packed.chunks[1].segments->model;
    model.predictor = static_cast<int>(Predictor::segments);
    model.segments = bytes_of({1, 1});
  });
  add(
      "an unknown coder of the lengths",
      [](auto& s) {
        chunk(s).segments->model.coder = kNumCoders;
        chunk(s).segments->model.has_front = false;
      },
      Errc::unsupported_feature);
  for (const int order : {9, 254})
    for (const std::size_t field : {0u, 1u})
      add(
          "order " + std::to_string(order) + " in field " + std::to_string(field),
          [=](auto& s) { model(s).segments[field] = static_cast<std::byte>(order); },
          Errc::unsupported_feature);
  add(
      "lanes of order 9",
      [](auto& s) {
        model(s).segments = bytes_of({255, 1, 9, 1});
      },
      Errc::unsupported_feature);
  table.add(
      "inside of segments that the chunk does not say", pack_stream(),
      [](auto& s) {
        model(s).predictor = static_cast<int>(Predictor::segments);
        model(s).segments = bytes_of({1, 1});
      },
      Errc::corrupt, Place::chunk);
}

void add_segment_length_faults(FaultTable& table) {
  const std::vector<std::uint64_t> lengths{0, 5, 130, 1, 0, 4};
  const auto add = [&](const std::string& name, const std::vector<std::uint64_t>& wrong) {
    table.add(
        name + ", segments", segment_stream(lengths), [&](auto& s) { set_lengths(s, wrong); },
        Errc::corrupt, Place::first_part);
  };
  add("lengths that add up to less", {0, 5, 130, 1, 0, 3});
  add("lengths that add up to more", {0, 5, 130, 1, 1, 4});
  add("lengths that add up modulo 2^32", {0xffffffff, 5, 130, 1, 1, 4});
  add("lengths of 2^32 - 1", {0xffffffff, 0xffffffff, 0xffffffff});
  const auto part_at = [](const StreamFields& s) {
    return s.chunks[1].segments->model.column_bytes.value;
  };
  for (const Coder coder : test::plain_coders()) {
    if (!format::codes_residuals(coder)) continue;
    const StreamFields good =
        segment_stream(lengths, coder, plain::linked(coder, format::kLengthColumn, {0}));
    const std::string of = ", segments by " + std::string(coder_name(coder));
    table.add_good("right" + of, good);
    table.add(
        "check of the lengths" + of, good,
        [](auto& s) { chunk(s).segments->model.part_checks[0] ^= 1; }, Errc::corrupt,
        Place::first_part);
    table.add_at(
        "check of the values" + of, good, [](auto& s) { model(s).part_checks[0] ^= 1; },
        Errc::corrupt, part_at(good));
  }
  // They add up, but the values inside come to others.
  table.add(
      "a record moved to another segment", segment_stream(lengths),
      [&](auto& s) {
        set_lengths(s, {0, 6, 129, 1, 0, 4});
        chunk(s).segments->model.part_checks[0] ^= 1;
      },
      Errc::corrupt, Place::first_part);
}

/// Pages that begin with states.
void add_segment_state_faults(FaultTable& table) {
  const std::vector<std::uint64_t> lengths{0, 5, 130, 1, 0, 4};
  const StreamFields good = segment_stream(lengths, Coder::pack, plain::raw(), true);
  table.add_good("states of segments", good);
  for (const int heads : {25, 31, 17 + 32, 17 + 128})
    table.add(
        "states, and an order of heads of " + std::to_string(heads), good,
        [=](auto& s) { model(s).segments[1] = static_cast<std::byte>(heads); },
        Errc::unsupported_feature, Place::chunk);
  for (const Coder coder : test::plain_coders()) {
    if (!format::codes_residuals(coder) || format::coder_traits(coder).states_of_segments) continue;
    table.add(
        "states of segments by " + std::string(coder_name(coder)), segment_stream(lengths, coder),
        [](auto& s) { model(s).segments[1] |= std::byte{16}; }, Errc::corrupt, Place::chunk);
  }
  const std::uint64_t page_at = 4 * lengths.size();
  table.add_at(
      "states that are not there", segment_stream(lengths),
      [](auto& s) { model(s).segments[1] |= std::byte{16}; }, Errc::corrupt, page_at);
  table.add_at(
      "states that are not said", good, [](auto& s) { model(s).segments[1] &= ~std::byte{16}; },
      Errc::corrupt, page_at);
  // Half of the tuples may be heads, or all.
  const auto with_heads = [](std::uint64_t ones, std::uint64_t others) {
    std::vector<std::uint64_t> all(ones, 1);
    if (others > 0) all.push_back(others + 1);
    return segment_stream(all, Coder::pack, plain::raw(), true);
  };
  table.add_good("states where half of the tuples are heads", with_heads(99, 100));
  table.add_good("states where all tuples are heads", with_heads(200, 0));
  table.add(
      "states where most tuples are heads", with_heads(99, 98), [](auto&) {}, Errc::corrupt,
      Place::first_part);
}

void add_segment_index_faults(FaultTable& table) {
  using Entries = std::vector<EntryFields>;
  const StreamFields good = segment_stream({0, 5, 130, 1, 0, 4});
  const auto add = [&](const std::string& name, const std::function<void(Entries&)>& change) {
    table.add_to_index(name, good, [=](auto& s) { s.end.change_entries = change; });
  };
  add("entry's lengths more by 1", [](Entries& e) { ++e[2].lengths->value; });
  add("entry's lengths are none", [](Entries& e) { e[2].lengths = 0; });
  for (const int joins : {1, 2, 3, 4}) {
    add("entry's joins " + std::to_string(joins), [=](Entries& e) { e[2].joins = joins; });
  }
  add("an entry that does not say its segments", [](Entries& e) {
    e[2].tag = 2;
    e[2].lengths.reset();
  });
  add("an entry that says segments of a chunk without", [](Entries& e) {
    e[1].tag = format::kSegmentedEntryTag;
    e[1].lengths = 1;
  });
}

}  // namespace

void add_faults_of_segments(FaultTable& table) {
  add_segment_head_faults(table);
  add_segment_length_faults(table);
  add_segment_state_faults(table);
  add_segment_index_faults(table);
}

}  // namespace gdelta::faults
