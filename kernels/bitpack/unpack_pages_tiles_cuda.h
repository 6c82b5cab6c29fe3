// Unpacks few pages of the pack coder soon: a block takes a page, and each of its warps a tile of it.
//
// Warps that take whole pages (unpack_pages_cuda.h) need the fewest instructions, so they are faster if there are pages
// enough for all of them. If there are not, what counts is how long one page takes, and how many kernels come one after
// the other: here there is one. It takes columns as the host has prepared them, holds the heads of chunks against that
// while their pages are decoded, and gives the verdicts.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pages/chunk_verdict.h"
#include "kernels/pages/prepared_column.h"

namespace gdelta::cuda {

/// Codes of verdicts.
struct VerdictCodes {
  std::int32_t
      corrupt;  // the head is not what was prepared, or a page breaks a rule or differs from its check
  std::int32_t truncated;  // the stream ends before the block
  std::int32_t no_room;    // the output ends before the chunk
};

/// Arrays are in device memory. What has been prepared is believed, but no block that leaves the stream and no chunk that leaves
/// the output is touched.
struct TilePagesArgs {
  const PreparedColumn* columns;   // [num_chunks] of one column
  const std::uint32_t* page_ends;  // [num_chunks × most_pages]: from the start of the section on
  std::uint32_t num_chunks;
  std::uint32_t most_pages;     // of a chunk, in this column
  const unsigned char* stream;  // 16-byte aligned, readable to the next multiple of 16
  std::uint64_t stream_bytes;
  unsigned char* out;  // where the first chunk's content begins
  std::uint64_t out_bytes;
  std::uint32_t column_offset;  // of the column in the record
  std::uint32_t record_bytes;
  std::uint8_t value_bytes;
  std::uint8_t tuple;  // not wide
  bool big_endian;
  bool verify;
  bool
      is_first;  // of the columns: starts when all work before it is done, and looks at heads; the others may start with it
  bool is_last;  // nothing starts before it is done
  VerdictCodes codes;
  ChunkVerdict* verdicts;             // [num_chunks]
  unsigned long long* verdict_cells;  // [num_chunks], see open_verdict; anything
  std::uint64_t call;                 // a number that no other call has had
};

cudaError_t launch_unpack_pages_tiles(const TilePagesArgs& args, cudaStream_t stream);

}  // namespace gdelta::cuda
