// Faults in pages of runs; fault_cases.h says how they are made.
#include "codec/faults/fault_parts.h"

namespace gdelta::faults {

void add_faults_of_runs(FaultTable& table) {
  const auto page = [](int first, int second) {
    return joined({bytes_of({first, 0, 2}), bytes_of({second, 0, 2})});
  };
  const auto stream = [](const Bytes& one, const Bytes& other) {
    StreamFields fields = two_frames(Coder::runs, {one, other});
    return fields;
  };
  const Bytes good = page(63, 63);
  const auto add = [&](const std::string& name, const Bytes& bytes) {
    table.add(name + " in the first page", stream(good, good), put_chunk_of(stream(bytes, good)),
              Errc::corrupt, Place::first_part);
    table.add(name + " in the second page", stream(good, good), put_chunk_of(stream(good, bytes)),
              Errc::corrupt, Place::second_part);
  };
  add("runs that are too long", page(63, 64));
  add("runs that are too short", page(63, 62));
  add("half a run", Bytes(good.begin(), good.end() - 1));
  add("a byte behind the runs", with_zeros(good, 1));
}

}  // namespace gdelta::faults
