// A table of hostile streams. Each is a right stream with one field made wrong; what depends on the
// field (checks, sizes, the index, the checksum of the content) agrees with it, so a reader that
// does not look at that field takes the stream for right, or stumbles elsewhere. Beside each stands
// what every reader has to report: class, chunk and byte, as spec.md, section 8, has them.
#pragma once

#include "codec/faults/fault_table.h"

namespace gdelta::faults {

/// The whole table, and the right streams that its faults were planted in.
std::vector<FaultCase> fault_cases();

/// Whether a chunk alone, with a table that says how long its block is, is cut: its head goes on behind
/// it.
bool head_goes_beyond(const Bytes& block);

}  // namespace gdelta::faults
