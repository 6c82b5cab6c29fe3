// Which parts of an input are numbers.
#include <algorithm>
#include <vector>

#include "codec/stream/encode_plan.h"
#include "codec/stream/input_planner.h"
#include "codec/stream/memory_sinks.h"
#include "codec/stream/walk/byte_input.h"

namespace gdelta {

Result<std::vector<FoundArray>> find_arrays(const ReadAt& read_at, std::uint64_t file_bytes,
                                            const EncodeOptions& options) {
  if (auto checked = check_options(options); !checked)
    return tl::unexpected(std::move(checked.error()));
  return with_memory_errors<std::vector<FoundArray>>([&]() -> Result<std::vector<FoundArray>> {
    std::vector<FoundArray> arrays;
    std::vector<std::byte> ahead;
    InputPlanner planner(options);
    for (std::uint64_t at = 0; at < file_bytes;) {
      ahead.resize(
          static_cast<std::size_t>(std::min<std::uint64_t>(planner.look_bytes(), file_bytes - at)));
      const auto got = read_fully(read_at, at, ahead);
      if (!got) return tl::unexpected(got.error());
      if (*got < ahead.size()) return fail(Errc::io_error, "became shorter while it was read");
      const std::uint64_t had = planner.num_arrays();
      const InputPart part = planner.look(ahead, file_bytes - at);
      at += std::min(part.head_bytes, file_bytes - at);
      const std::uint64_t bytes = std::min(part.data_bytes, file_bytes - at);
      if (planner.num_arrays() > had) arrays.push_back({at, bytes, *planner.layout()});
      at += bytes;
    }
    return arrays;
  });
}

Result<std::vector<FoundArray>> find_arrays(std::span<const std::byte> values,
                                            const EncodeOptions& options) {
  return find_arrays(read_from(values), values.size(), options);
}

}  // namespace gdelta
