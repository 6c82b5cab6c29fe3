// Where the pages of a column lie in device memory, for kernels of the caller's that decode them into
// registers (gdelta/pages/page_reader.cuh). device_open_pages (gdelta/device.h) fills it.
#pragma once

#include <cstdint>

namespace gdelta {

namespace cuda {
struct ColumnTask;
struct ChunkVerdict;
}  // namespace cuda

/// Copied to kernels by value. It is valid as long as the stream and the scratch memory that it was opened with, and
/// may be read by any number of kernels one after the other, not at the same time.
struct DevicePages {
  const cuda::ColumnTask* tasks = nullptr;  ///< of all columns of all chunks
  const std::uint64_t* starts = nullptr;    ///< [end_task + 1]: pages before each
  std::uint32_t first_task = 0;             ///< the column's are [first_task, end_task)
  std::uint32_t end_task = 0;
  unsigned long long* tickets = nullptr;     ///< from which warps draw their pages
  unsigned long long* damaged_at = nullptr;  ///< [num_chunks]: where a page breaks a rule
  unsigned long long* differs_at = nullptr;  ///< [num_chunks]: where one is not what its check says
  cuda::ChunkVerdict* verdicts = nullptr;    ///< [num_chunks]
  std::uint32_t num_chunks = 0;
  int value_bytes = 0;           ///< of the column
  int tuple = 0;                 ///< of the column
  bool verify = true;            ///< readers hold pages against their checks
  std::uint64_t most_pages = 0;  ///< that there can be
};

}  // namespace gdelta
