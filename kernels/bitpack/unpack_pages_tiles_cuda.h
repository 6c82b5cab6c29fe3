// Unpacks few pages of the pack coder soon: a block takes a page, and each of its warps a tile of it.
//
// Warps that take whole pages (unpack_pages_cuda.h) need the fewest instructions, so they are faster if there are pages
// for all of them. If there are not, what counts is how long one page takes: here an eighth of its tiles one after the
// other. So that no kernel has to come before this one, it takes columns as the host prepared them. It is started with the
// kernel that holds heads against what was prepared (launch_after), waits for it when its pages are decoded, and settles
// the verdicts.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pages/chunk_verdict.h"
#include "kernels/pages/prepared_column.h"

namespace gdelta::cuda {

/// Arrays are in device memory. What `columns` says is believed, but for the rest of memory: sections that leave the stream
/// and chunks that leave the output are not touched.
struct TilePagesArgs {
  const PreparedColumn* columns;  // [num_chunks] of one column; all that is before the kernel before it may have written it
  std::uint32_t num_chunks;
  const unsigned char* stream;  // 16-byte aligned, readable to the next multiple of 16; likewise
  std::uint64_t stream_bytes;
  unsigned char* out;  // where the first chunk's content begins
  std::uint64_t out_bytes;
  std::uint32_t column_offset;  // of the column in the record
  std::uint32_t record_bytes;
  std::uint8_t value_bytes;
  std::uint8_t tuple;  // not wide
  bool big_endian;
  bool verify;
  bool is_last;  // of the call: nothing starts before it is done
  std::int32_t corrupt;  // the code of chunks in which something is wrong

  // [num_chunks] each, made ready by the kernels before this one: pages of all columns that are decoded, from 0 on; the
  // lowest offsets of pages that break a rule and of those that differ; verdicts on heads, which become those on chunks.
  std::uint32_t* pages_done;
  unsigned long long* damaged_at;
  unsigned long long* differs_at;
  ChunkVerdict* verdicts;
};

/// `most_pages`: of a chunk, in this column.
cudaError_t launch_unpack_pages_tiles(const TilePagesArgs& args, std::uint32_t most_pages,
                                      cudaStream_t stream);

}  // namespace gdelta::cuda
