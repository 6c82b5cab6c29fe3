#include "kernels/scan/scan_policy.h"

namespace gdelta::scan {
namespace {

// What tune_scan printed on an H200 (2026-11-21). If states are wide and inputs small, the
// group kernel shares the lanes among all threads and beats the stream.
// A row is a row.
// clang-format off
constexpr Policy kUsualPolicies[] = {
    {.value_bytes = 1, .max_order = 4, .max_state = 32, .min_bytes = 2u << 20, .path = Path::stream, .worker_warps = 16},
    {.value_bytes = 1, .max_order = 4, .max_state = 64, .min_bytes = 12u << 20, .path = Path::stream, .worker_warps = 16},
    {.value_bytes = 1, .max_order = 4, .max_state = 64, .min_bytes = 0, .path = Path::group, .worker_warps = 8},
    {.value_bytes = 1, .max_order = 8, .max_state = 64, .min_bytes = 768u << 10, .path = Path::stream, .worker_warps = 16},
    {.value_bytes = 1, .max_order = 2, .max_state = 128, .min_bytes = 0, .path = Path::group, .worker_warps = 8},
    {.value_bytes = 1, .max_order = 8, .max_state = 128, .min_bytes = 16u << 20, .path = Path::stream, .worker_warps = 16},
    {.value_bytes = 2, .max_order = 2, .max_state = 32, .min_bytes = 3u << 20, .path = Path::stream, .worker_warps = 16},
    {.value_bytes = 2, .max_order = 2, .max_state = 32, .min_bytes = 0, .path = Path::group, .worker_warps = 8},
    {.value_bytes = 2, .max_order = 4, .max_state = 32, .min_bytes = 768u << 10, .path = Path::stream, .worker_warps = 16},
    {.value_bytes = 2, .max_order = 4, .max_state = 64, .min_bytes = 3u << 20, .path = Path::stream, .worker_warps = 16},
    {.value_bytes = 2, .max_order = 4, .max_state = 64, .min_bytes = 0, .path = Path::group, .worker_warps = 8},
    {.value_bytes = 2, .max_order = 8, .max_state = 64, .min_bytes = 512u << 10, .path = Path::stream, .worker_warps = 16},
    {.value_bytes = 4, .max_order = 2, .max_state = 32, .min_bytes = 24u << 20, .path = Path::stream, .worker_warps = 16},
    {.value_bytes = 4, .max_order = 2, .max_state = 32, .min_bytes = 0, .path = Path::group, .worker_warps = 8},
    {.value_bytes = 4, .max_order = 4, .max_state = 32, .min_bytes = 512u << 10, .path = Path::stream, .worker_warps = 16},
    {.value_bytes = 4, .max_order = 4, .max_state = 64, .min_bytes = 16u << 20, .path = Path::stream, .worker_warps = 16},
    {.value_bytes = 4, .max_order = 4, .max_state = 64, .min_bytes = 0, .path = Path::group, .worker_warps = 8},
    {.value_bytes = 4, .max_order = 8, .max_state = 64, .min_bytes = 512u << 10, .path = Path::stream, .worker_warps = 16},
    {.value_bytes = 8, .max_order = 1, .max_state = 8, .min_bytes = 2u << 20, .path = Path::stream, .worker_warps = 14},
    {.value_bytes = 8, .max_order = 1, .max_state = 16, .min_bytes = 32u << 20, .path = Path::stream, .worker_warps = 16},
    {.value_bytes = 8, .max_order = 1, .max_state = 16, .min_bytes = 0, .path = Path::group, .worker_warps = 8},
    {.value_bytes = 8, .max_order = 3, .max_state = 24, .min_bytes = 512u << 10, .path = Path::stream, .worker_warps = 16},
    {.value_bytes = 8, .max_order = 4, .max_state = 32, .min_bytes = 12u << 20, .path = Path::stream, .worker_warps = 16},
    {.value_bytes = 8, .max_order = 2, .max_state = 128, .min_bytes = 0, .path = Path::group, .worker_warps = 8},
    {.value_bytes = 8, .max_order = 8, .max_state = 128, .min_bytes = 768u << 10, .path = Path::stream, .worker_warps = 16},
    {.value_bytes = 8, .max_order = 4, .max_state = 256, .min_bytes = 0, .path = Path::group, .worker_warps = 8},
    {.value_bytes = 8, .max_order = 8, .max_state = 512, .min_bytes = 32u << 20, .path = Path::stream, .worker_warps = 16},
};
// clang-format on

}  // namespace

bool has_stream_kernel(const Shape& shape) {
  if (shape.tuple > kMaxInterleavedTuple) return false;
  if (shape.op == Operator::sum) return !is_float(shape.type) || shape.order == 1;
  if (type_bytes(shape.type) < 4) return false;
  if (shape.op == Operator::product) return !is_float(shape.type) && shape.order == 1;
  return shape.op != Operator::bit_xor || shape.order == 1;
}

std::span<const Policy> usual_policies() { return kUsualPolicies; }

Policy choose_policy(const Shape& shape, int compute_capability, std::span<const Policy> policies) {
  const int bytes = type_bytes(shape.type);
  if (compute_capability >= 90 && has_stream_kernel(shape)) {
    const int order = is_idempotent(shape.op) ? 1 : shape.order;
    const std::uint64_t state = shape.tuple * static_cast<std::uint64_t>(order);
    for (const Policy& row : policies) {
      if (row.value_bytes == bytes && order <= row.max_order &&
          state <= static_cast<std::uint64_t>(row.max_state) &&
          shape.count * bytes >= row.min_bytes) {
        return row;
      }
    }
  }
  return {.value_bytes = bytes,
          .max_order = kMaxOrder,
          .max_state = 0,
          .min_bytes = 0,
          .path = Path::group,
          .worker_warps = kGroupWarps};
}

}  // namespace gdelta::scan
