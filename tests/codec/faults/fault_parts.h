// The parts of the table of hostile streams, a file each (fault_NAME.cpp), and what several of them share.
#pragma once

#include <array>

#include "codec/faults/fault_table.h"
#include "golden/golden_parts.h"

namespace gdelta::faults {

void add_faults_of_heads(FaultTable& table);  // and of headers, frames, layouts, truncations
void add_faults_of_models(FaultTable& table);
void add_faults_of_maps(FaultTable& table);
void add_faults_of_linear(FaultTable& table);
void add_faults_of_segments(FaultTable& table);

/// Those of a coder's pages, frames or tables, and of a map's fields.
#define GDELTA_DECLARATION(name) void add_faults_of_##name(FaultTable& table);
GDELTA_PLAIN_CODERS(GDELTA_DECLARATION)
GDELTA_PLAIN_MAPS(GDELTA_DECLARATION)
GDELTA_PLAIN_LANE_MAPS(GDELTA_DECLARATION)
#undef GDELTA_DECLARATION

/// Those of fault_heads.cpp in the head of a chunk and in what it says of models.
void add_chunk_faults(FaultTable& table);

/// A frame that readers pass over, of `bytes` bytes, which says that it has `length`.
Bytes skippable_frame(std::uint64_t length, std::size_t bytes);

Bytes joined(std::initializer_list<Bytes> parts);

Bytes with_zeros(Bytes bytes, std::size_t zeros);

/// The zigzagged residuals, in u8 and of order 0, that both frames or streams of `two_frames` should hold.
Bytes frame_residuals();
StreamFields two_frames(Coder coder, const std::array<Bytes, 2>& frames);

// ---- Maps

/// A chunk of one column whose maps give most of its values back, but for those that are planted.
StreamFields mapped_stream(const char* record, std::size_t records, Coder coder,
                           const std::vector<plain::LaneChoice>& maps,
                           const std::vector<plain::StepChoice>& steps = {},
                           const plain::detail::Planted& planted = {},
                           const std::set<std::uint64_t>& exceptions = {});

std::string named(const std::string& what, Coder coder);

/// The model with fields behind its front that are not there.
void add_cut_models(FaultTable& table, const std::string& name, const StreamFields& good);

/// The map of values of types that it is not for, in a column and in a lane.
void add_wrong_types(FaultTable& table, const plain::LaneChoice& map,
                     std::initializer_list<const char*> types);

/// The longest section of pack that a reader accepts (coders/pack.md).
std::uint64_t most_pack_bytes(std::uint64_t records, int lanes, int bits, int pages);

}  // namespace gdelta::faults
