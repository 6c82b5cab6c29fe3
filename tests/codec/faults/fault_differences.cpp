// Faults of differences of lanes.

#include "codec/faults/fault_parts.h"
#include "stages/registry.h"

namespace gdelta::faults {

namespace {

using plain::StepChoice;

/// So many steps are said, and these are there.
Bytes fields_of(int said, const std::vector<StepChoice>& steps) {
  Bytes fields = bytes_of({said});
  for (const StepChoice& step : steps)
    for (const int field : {step.target, step.source, step.kind}) append_byte(fields, field);
  return fields;
}

FaultTable::Change put_fields(const Bytes& fields) {
  return [fields](StreamFields& s) {
    model(s).lane_map = static_cast<int>(LaneMap::differences);
    model(s).lane_map_fields = fields;
  };
}

/// Right streams of a coder, and changes of them.
struct StepFaults {
  FaultTable& table;
  Coder coder;
  std::vector<StepChoice> two_steps = {{2, 0, 0}, {1, 0, 2}};
  StreamFields two = stream("i16x3", two_steps);

  StreamFields stream(const char* record, const std::vector<StepChoice>& steps) const {
    return mapped_stream(record, 140, coder, {}, steps);
  }
  void add(const std::string& name, const StreamFields& good, const FaultTable::Change& change,
           Errc code = Errc::corrupt) const {
    table.add(named(name, coder), good, change, code, Place::chunk);
  }
  /// A step of two is changed.
  template <class ChangeStep>
  void add_step(const std::string& name, std::size_t number, const ChangeStep& change,
                Errc code = Errc::corrupt) const {
    std::vector<StepChoice> steps = two_steps;
    change(steps[number]);
    add(name, two, put_fields(fields_of(2, steps)), code);
  }
};

void add_number_faults(const StepFaults& faults) {
  faults.table.add_good(named("steps", faults.coder), faults.two);
  add_cut_models(faults.table, named("steps", faults.coder), faults.two);
  faults.add("no steps", faults.stream("i16x3", {}), put_fields(fields_of(0, {})));
  const std::vector<StepChoice> most(64, {2, 0, 0});
  faults.table.add_good(named("64 steps", faults.coder), faults.stream("i16x3", most));
  std::vector<StepChoice> more = most;
  more.push_back({0, 1, 0});
  faults.add("65 steps", faults.stream("i16x3", most), put_chunk_of(faults.stream("i16x3", more)),
             Errc::unsupported_feature);
  for (const int steps : {65, 255, 1, 3})
    faults.add(std::to_string(steps) + " steps, two of them there", faults.two,
               put_fields(fields_of(steps, faults.two_steps)),
               steps > 64 ? Errc::unsupported_feature : Errc::corrupt);
}

void add_step_faults(const StepFaults& faults) {
  for (const std::size_t step : {0, 1}) {
    const std::string of = " in step " + std::to_string(step);
    for (const int lane : {3, 64, 255}) {
      faults.add_step("target " + std::to_string(lane) + of, step,
                      [=](StepChoice& one) { one.target = lane; });
      faults.add_step("source " + std::to_string(lane) + of, step,
                      [=](StepChoice& one) { one.source = lane; });
    }
    faults.add_step("a lane of itself" + of, step,
                    [](StepChoice& one) { one.target = one.source; });
    for (const int kind : {3, 0x80, 255})
      faults.add_step(
          "kind " + std::to_string(kind) + of, step, [=](StepChoice& one) { one.kind = kind; },
          Errc::unsupported_feature);
  }
  faults.add_step("an unknown kind of a lane that is not there", 0, [](StepChoice& one) {
    one.source = 3;
    one.kind = 3;
  });
  faults.add("a step of a single lane", faults.stream("i16", {}),
             put_fields(fields_of(1, {{0, 0, 0}})));
  std::vector<StepChoice> beyond = faults.two_steps;
  beyond[1].target = 3;
  faults.add("a lane that is not there, and an unknown predictor", faults.two,
             [put = put_fields(fields_of(2, beyond))](StreamFields& s) {
               put(s);
               model(s).predictor = kNumPredictors;
             });
}

}  // namespace

void add_faults_of_differences(FaultTable& table) {
  for (const Coder coder : test::plain_coders()) {
    const StepFaults faults{table, coder};
    add_number_faults(faults);
    add_step_faults(faults);
  }
}

}  // namespace gdelta::faults
