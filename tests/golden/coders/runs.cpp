// Pages of runs, and golden cases of them. Spec: coders/runs.md.
#include <string>

#include "../golden_parts.h"

namespace gdelta::plain::detail {

void append_runs_part(Bytes& section, const std::vector<Lane>& lanes, std::vector<Lane>& states,
                      std::size_t begin, std::size_t end, const Choice&, const Column& column) {
  append_states(section, states, column);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    Lane residuals;
    for (std::size_t i = begin; i < end; ++i)
      residuals.push_back(step(states[lane], lanes[lane][i], column));
    for (std::size_t i = 0, run_end = 0; i < residuals.size(); i = run_end) {
      while (run_end < residuals.size() && residuals[run_end] == residuals[i]) ++run_end;
      format::append_le(section, 2, run_end - i - 1);
      format::append_le(section, value_bytes(column.type), residuals[i]);
    }
  }
}

void add_runs_cases(std::vector<GoldenCase>& cases) {
  for (const char* record : {"u8", "i16x2", "i24", "u32x3", "f64"})
    one_chunk(cases, std::string("runs_") + record, record, 300, 1,
              [](const Column& column) { return linked(Coder::runs, column, {2}); });
}

}  // namespace gdelta::plain::detail
