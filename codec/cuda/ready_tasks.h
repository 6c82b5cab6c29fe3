// Tasks of kernels, made by the host of the heads it has read, for tables of chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/cuda/known_heads.h"
#include "gdelta/device.h"

namespace gdelta::cuda {

/// Appends the tasks of all chunks, whose heads stand in the table from `heads_at` on, as place_tasks_cuda.h has them, unless a
/// chunk is the host's or has a dictionary.
std::optional<ReadyTasks> append_ready_tasks(std::span<const KnownHead> heads, const Layout& layout,
                                             std::uint64_t heads_at, std::vector<std::byte>& table);

/// Whether `kinds` have all that `needed` have.
bool allows(const ChunkKinds& kinds, const ChunkKinds& needed);

}  // namespace gdelta::cuda
