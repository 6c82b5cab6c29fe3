// Faults in the fields of linear prediction; fault_cases.h says how they are made. Where it can be, a stream
// decodes as it should but for the rule that it breaks.

#include "codec/faults/fault_parts.h"
#include "stages/registry.h"

namespace gdelta::faults {

namespace {

StreamFields linear_stream(const char* record, std::size_t records,
                           const plain::LinearPlainModel& linear, Coder coder = Coder::pack) {
  return wandering_stream(record, records, [&](const Column& column) {
    return plain::predicted(coder, column, linear);
  });
}

/// Where the fields of lane 1 begin behind a lane of so many own taps.
constexpr std::size_t lane_1_at(std::size_t own) { return 2 + 3 + 3 * own; }

/// Faults of a column that a coder codes behind linear prediction.
class LinearFaults {
 public:
  LinearFaults(FaultTable& table, Coder coder) : table_(table), coder_(coder) {
    linear_.lanes[1].taps[0].width = 4;
    good_ = linear_stream("i16x2", 300, linear_, coder);
    table_.add_good("linear" + of_, good_);
  }

  /// A byte of the fields is changed.
  void set(const std::string& name, std::size_t at, int value, Errc code = Errc::corrupt) {
    change(
        name, [=](auto& s) { model(s).linear[at] = static_cast<std::byte>(value); }, code);
  }
  void change(const std::string& name, const FaultTable::Change& change,
              Errc code = Errc::corrupt) {
    table_.add(name + of_, good_, change, code, Place::chunk);
  }
  /// The column is coded by another model, which no decoder knows.
  template <class Change>
  void model_of(const std::string& name, Change change_model) {
    plain::LinearPlainModel changed = linear_;
    change_model(changed);
    change(name, put_chunk_of(linear_stream("i16x2", 300, changed, coder_)),
           Errc::unsupported_feature);
  }
  std::size_t field_bytes() const { return good_.chunks[1].models[0].linear.size(); }

 private:
  FaultTable& table_;
  Coder coder_;
  std::string of_ = " of linear prediction, " + std::string(coder_name(coder_));
  // 3 own taps; lane 1 looks at lane 0, too. The table ends inside a byte.
  plain::LinearPlainModel linear_ = plain::linear_model(2, 3, 2, 9, 5);
  StreamFields good_;
};

void add_linear_field_faults(LinearFaults& faults) {
  constexpr auto kUnsupported = Errc::unsupported_feature;
  for (const int run_bits : {7, 17})
    faults.model_of("run_bits " + std::to_string(run_bits),
                    [=](auto& l) { l.run_bits = run_bits; });
  for (const int run_bits : {0, 255})
    faults.set("run_bits " + std::to_string(run_bits), 0, run_bits, kUnsupported);
  for (const int reading : {2, 255})
    faults.set("reading " + std::to_string(reading), 1, reading, kUnsupported);
  faults.model_of("shift 16", [](auto& l) { l.lanes[1].shift = 16; });
  faults.set("shift 255", 4, 255, kUnsupported);
  for (const int sources : {3, 255})
    faults.set(std::to_string(sources) + " sources", lane_1_at(3) + 1, sources, kUnsupported);
  faults.set("a source of the first lane", 3, 1);
  for (const int source : {1, 2, 255})
    faults.set("source " + std::to_string(source) + " of lane 1", lane_1_at(3) + 3, source);
  faults.set("a source without taps", lane_1_at(3) + 4, 0);
  faults.set("255 taps of a source", lane_1_at(3) + 4, 255, kUnsupported);
  faults.model_of("33 taps", [](auto& l) {
    l.lanes[0].own = 33;
    l.lanes[0].taps.resize(33);
  });
  faults.model_of("30 taps, and 3 of a source", [](auto& l) {
    l.lanes[1].own = 30;
    l.lanes[1].sources[0].second = 3;
    l.lanes[1].taps.resize(33);
  });
  faults.model_of("a width of 17", [](auto& l) { l.lanes[1].taps[4].width = 17; });
  faults.set("a width of 255", lane_1_at(3) + 5 + 3 * 4 + 2, 255, kUnsupported);
}

void add_linear_table_faults(LinearFaults& faults, Coder coder) {
  faults.change("a bit behind the last coefficient",
                [](auto& s) { model(s).linear.back() |= std::byte{0x80}; });
  // It is taken for what follows: of ans that is a number of slots.
  faults.change(
      "a table with a byte too many", [](auto& s) { model(s).linear.push_back(std::byte{1}); },
      coder == Coder::ans ? Errc::unsupported_feature : Errc::corrupt);
  // The model ends before the table, before a lane, in the midst of one, and before its fields.
  for (const std::size_t there :
       {faults.field_bytes() - 1, lane_1_at(3), lane_1_at(3) + 4, std::size_t{1}})
    faults.change("fields that end after " + std::to_string(there) + " bytes", [there](auto& s) {
      const int before = format::varint_bytes(model(s).column_bytes.value) + 4;
      model(s).bytes_there = static_cast<std::size_t>(before) + there;
    });
}

void add_linear_source_faults(FaultTable& table) {
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
  table.add("linear: sources that fall", good, with_sources({{1, 1}, {0, 1}}), Errc::corrupt,
            Place::chunk);
  table.add("linear: a source twice", good, with_sources({{1, 1}, {1, 1}}), Errc::corrupt,
            Place::chunk);
}

}  // namespace

void add_faults_of_linear(FaultTable& table) {
  for (const Coder coder : test::plain_coders()) {
    LinearFaults faults(table, coder);
    add_linear_field_faults(faults);
    add_linear_table_faults(faults, coder);
  }
  add_linear_source_faults(table);
}

}  // namespace gdelta::faults
