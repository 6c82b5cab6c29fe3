#include "codec/stream/encode_budget.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "codec/backend/backend.h"
#include "codec/coders/coder.h"
#include "codec/plan/frame_choice.h"
#include "codec/plan/levels.h"
#include "codec/plan/tried_coders.h"
#include "codec/stream/encode_plan.h"
#include "codec/stream/walk/memory_words.h"

namespace gdelta {

namespace {

// Columns laid apart, residuals as bytes, a section that grows by doubling, the payload, and the block.
constexpr std::uint64_t kCopies = 7;
// zstd's tables for short frames: so many times their length.
constexpr std::uint64_t kZstdOfShort = 16;
constexpr std::uint64_t kPageWords = 4 << 20;

// They are tried one behind the other.
std::uint64_t patient_scratch(const EncodeOptions& options, std::uint64_t chunk_bytes) {
  std::uint64_t most = 0;
  for (const Coder coder : tried_coders(format::ChosenBy::patience, options.coder, options.level,
                                        options.device_decodable)) {
    const ColumnCoder& with = column_coder(coder);
    if (with.encode_scratch != nullptr) most = std::max(most, with.encode_scratch(chunk_bytes));
  }
  return most;
}

}  // namespace

std::uint64_t encode_scratch_bytes(const EncodeOptions& options, std::uint64_t chunk_bytes) {
  const ZstdPolicy& policy = level_policy(options.level).zstd;
  const std::uint64_t tables = policy.table_mib << 20;
  const std::uint64_t zstd = std::min(tables, kZstdOfShort * chunk_bytes + (2 << 20));
  return kCopies * chunk_bytes + std::min(kPageWords, 8 * chunk_bytes + 65536) +
         (tries_zstd(options.coder, options.level, options.device_decodable, false) ? zstd : 0) +
         patient_scratch(options, chunk_bytes);
}

Result<EncodeBudget> encode_budget(const EncodeOptions& options, bool collects) {
  EncodeBudget budget;
  budget.device = options.device;
  budget.threads = options.threads;
  const std::uint64_t limit = options.memory_limit;
  if (limit == std::numeric_limits<std::uint64_t>::max()) return budget;
  // What a GPU's driver holds on the host nobody can bound.
  if (budget.device == "auto") budget.device = "cpu";
  // A chunk has one record at least.
  const std::uint64_t chunk = std::max<std::uint64_t>(chunk_bytes_of(options), kMaxRecordBytes);
  const std::uint64_t scratch = encode_scratch_bytes(options, chunk);
  // Block, and chunk if that is collected, of the batch that is encoded and of the one that is handed on or collected.
  const std::uint64_t once = collects ? 2 : 1;
  const std::uint64_t overlapped = 2 * once;
  if (limit < once * chunk + scratch)
    return fail(
        Errc::memory_limit,
        fmt::format("compressing chunks of {} at this level takes {}, more than the memory limit "
                    "of {}: raise the limit, or take a lower level or shorter chunks",
                    needed_memory(chunk), needed_memory(once * chunk + scratch),
                    allowed_memory(limit)));
  budget.overlap = limit >= overlapped * chunk + scratch;
  if (!budget.overlap) {
    budget.threads = 1;
    budget.batch_bytes = chunk;
    return budget;
  }
  const std::uint64_t at_once = limit / (overlapped * chunk + scratch);
  budget.threads = static_cast<int>(
      std::min<std::uint64_t>(at_once, static_cast<std::uint64_t>(cpu_threads(options.threads))));
  budget.batch_bytes = (limit - static_cast<std::uint64_t>(budget.threads) * scratch) / overlapped;
  return budget;
}

}  // namespace gdelta
