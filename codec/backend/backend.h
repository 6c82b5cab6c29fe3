// Where chunks are encoded and decoded: one virtual call for a batch of chunks, never for a value.
// Every backend writes identical bytes and reports identical errors.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/backend/progress_meter.h"
#include "codec/chunk/chunk_segments.h"
#include "codec/plan/encode_settings.h"
#include "formats/gdelta/chunk_block.h"
#include "gdelta/codec.h"

namespace gdelta {

class Workers;

/// One chunk to encode: whole records of `layout`, at most 2^28 bytes.
struct EncodeJob {
  std::span<const std::byte> values;
  const Layout* layout = nullptr;
  bool opaque = false;           // tag 3; layout is then byte_layout()
  std::vector<std::byte> block;  // out: the complete block, tag to payload
  ChunkSegments segments = {};
  format::ArrayRows rows = {};  // of the array, if its head tells
};

/// What is asked for all jobs, for this one.
inline EncodeSettings settings_of(const EncodeJob& job, EncodeSettings settings) {
  settings.rows = job.rows;
  return settings;
}

/// One chunk to decode. Its head has been checked and parsed.
struct DecodeJob {
  std::span<const std::byte> block;  // complete
  format::ParsedChunk parsed;
  std::uint64_t byte = 0;                   // where the block starts in the file, for errors
  std::uint64_t number = 0;                 // of the chunk, for errors
  const Layout* layout = nullptr;           // byte_layout() for opaque chunks
  std::span<std::byte> out;                 // exactly the decoded bytes
  bool alone = false;                       // one thread alone works on it: memory is short
  std::optional<Error> error;               // out
  std::vector<std::uint32_t> lengths = {};  // out: of its segments, if the chunk says them
};

/// How many decoded bytes make a good batch: the most where they are in memory already, `bytes_of` where the streaming reader
/// or writer collects them.
struct BatchSize {
  std::uint64_t most_bytes = 0;   // unless a single chunk has more
  std::uint64_t least_bytes = 0;  // of shorter chunks, more than `chunks`
  std::uint64_t chunks = 0;  // no more are needed, and memory that is not touched takes no time
  // The most of what is decoded from memory to memory, where nothing is collected, if that is more than most_bytes.
  std::uint64_t most_decoded_bytes = 0;

  std::uint64_t bytes_of(std::uint64_t chunk_bytes) const {
    return chunk_bytes >= most_bytes
               ? most_bytes
               : std::min(most_bytes, std::max(least_bytes, chunks * chunk_bytes));
  }
};

class Backend {
 public:
  virtual ~Backend() = default;
  /// "cpu", "cuda:0", "cuda:0,1"
  virtual std::string name() const = 0;
  /// Encodes all jobs, adding each to `progress` when it is done. Errors are those of the machine
  /// (out_of_memory, device_error), never of the data, and cancelled if `progress` is stopped:
  /// then jobs may be left out.
  virtual Result<void> encode(std::span<EncodeJob> jobs, const EncodeSettings& settings,
                              ProgressMeter& progress) = 0;
  /// Decodes all jobs; a job that fails gets its `error` set and is not added to `progress`.
  /// `verify` off skips the content checksum only. Errors as above.
  virtual Result<void> decode(std::span<DecodeJob> jobs, bool verify, ProgressMeter& progress) = 0;
  virtual BatchSize batch_size() const = 0;
};

/// What encode returns if the caller asked to stop, and decode.
tl::unexpected<Error> compression_cancelled();
tl::unexpected<Error> decompression_cancelled();

/// Threads that `threads` stands for on this machine: 0 all, and never more than it runs at once.
int cpu_threads(int threads);
std::unique_ptr<Backend> make_cpu_backend(int threads);
/// Errors: unsupported_backend if the build or the machine has no CUDA device of these numbers.
Result<std::unique_ptr<Backend>> make_cuda_backend(const std::vector<int>& devices, int threads);
/// CUDA devices that are there; empty without CUDA.
std::vector<DeviceInfo> list_cuda_devices();

/// Decodes a job on the CPU, sets its error or adds it to `progress`; leaves it if that is stopped.
void decode_on_cpu(DecodeJob& job, bool verify, Workers& workers, ProgressMeter& progress);

/// Opens what `device` names. "auto" takes the first GPU if `input_bytes` (if known) repays
/// starting it, else the CPU.
Result<std::unique_ptr<Backend>> open_backend(std::string_view device, int threads,
                                              std::optional<std::uint64_t> input_bytes);

}  // namespace gdelta
