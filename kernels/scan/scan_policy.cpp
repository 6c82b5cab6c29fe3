#include "kernels/scan/scan_policy.h"

namespace gdelta::scan {
namespace {

// What tune_scan printed on an H200 (2026-11-21). If states are wide and inputs small, the
// group kernel shares the lanes among all threads and beats the stream.
constexpr Policy kUsualPolicies[] = {
    {1, 4, 32, 2u << 20, Path::stream, 16},
    {1, 4, 64, 12u << 20, Path::stream, 16},
    {1, 4, 64, 0, Path::group, 8},
    {1, 8, 64, 768u << 10, Path::stream, 16},
    {1, 2, 128, 0, Path::group, 8},
    {1, 8, 128, 16u << 20, Path::stream, 16},
    {2, 2, 32, 3u << 20, Path::stream, 16},
    {2, 2, 32, 0, Path::group, 8},
    {2, 4, 32, 768u << 10, Path::stream, 16},
    {2, 4, 64, 3u << 20, Path::stream, 16},
    {2, 4, 64, 0, Path::group, 8},
    {2, 8, 64, 512u << 10, Path::stream, 16},
    {4, 2, 32, 24u << 20, Path::stream, 16},
    {4, 2, 32, 0, Path::group, 8},
    {4, 4, 32, 512u << 10, Path::stream, 16},
    {4, 4, 64, 16u << 20, Path::stream, 16},
    {4, 4, 64, 0, Path::group, 8},
    {4, 8, 64, 512u << 10, Path::stream, 16},
    {8, 1, 8, 2u << 20, Path::stream, 14},
    {8, 1, 16, 32u << 20, Path::stream, 16},
    {8, 1, 16, 0, Path::group, 8},
    {8, 3, 24, 512u << 10, Path::stream, 16},
    {8, 4, 32, 12u << 20, Path::stream, 16},
    {8, 2, 128, 0, Path::group, 8},
    {8, 8, 128, 768u << 10, Path::stream, 16},
    {8, 4, 256, 0, Path::group, 8},
    {8, 8, 512, 32u << 20, Path::stream, 16},
};

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
