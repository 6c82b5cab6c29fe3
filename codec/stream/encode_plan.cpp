#include "codec/stream/encode_plan.h"

#include <fmt/core.h>

#include <algorithm>

#include "codec/plan/levels.h"

namespace gdelta {

namespace {

Result<void> check_coder(const EncodeOptions& options) {
  if (!options.coder) return {};
  const std::vector<Coder> asked = asked_coders();
  if (std::find(asked.begin(), asked.end(), *options.coder) == asked.end())
    return fail(Errc::invalid_argument, "the coder of a stream is one of " + asked_coder_names());
  if (options.device_decodable && !decodes_on_device(*options.coder))
    return fail(
        Errc::invalid_argument,
        fmt::format("{} chunks do not decode on a device: choose another coder, or drop the "
                    "promise",
                    coder_name(*options.coder)));
  return {};
}

Result<void> check_stride(std::uint64_t stride) {
  if (stride == 0 || stride == kFindStride || is_stride(stride)) return {};
  return fail(Errc::invalid_argument,
              fmt::format("there is no stride {}: strides are 2 to {}", stride, kMaxStride));
}

}  // namespace

Result<void> check_options(const EncodeOptions& options) {
  if (options.layout) {
    if (auto checked = check_layout(*options.layout); !checked) return checked;
  }
  if (options.level < kLowestLevel || options.level > kHighestLevel)
    return fail(Errc::invalid_argument, fmt::format("there is no level {}: levels are {} to {}",
                                                    options.level, kLowestLevel, kHighestLevel));
  if (options.chunk_bytes > kMaxChunkBytes)
    return fail(Errc::invalid_argument, fmt::format("chunks of {} bytes are too long: at most {}",
                                                    options.chunk_bytes, kMaxChunkBytes));
  if (options.order && (*options.order < 0 || *options.order > kMaxOrder))
    return fail(Errc::invalid_argument,
                fmt::format("there is no order {}: orders are 0 to {}", *options.order, kMaxOrder));
  if (auto checked = check_stride(options.stride); !checked) return checked;
  if (auto checked = check_coder(options); !checked) return checked;
  if (auto checked = check_metadata(options.metadata); !checked) return checked;
  if (options.threads < 0)
    return fail(Errc::invalid_argument, "the number of threads cannot be negative");
  return {};
}

std::uint64_t chunk_bytes_of(const EncodeOptions& options) {
  return options.chunk_bytes > 0 ? options.chunk_bytes : level_policy(options.level).chunk_bytes;
}

}  // namespace gdelta
