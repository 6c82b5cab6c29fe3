// For benches of scans: what shapes and paths are called in their tables.
#pragma once

#include "kernels/scan/scan_cuda.h"

namespace gdelta::bench {

inline const char* type_name(scan::Type type) {
  static const char* const names[] = {"i8",  "u8",  "i16", "u16",  "i32", "u32",
                                      "i64", "u64", "f16", "bf16", "f32", "f64"};
  return names[static_cast<int>(type)];
}

inline const char* op_name(scan::Operator op) {
  static const char* const names[] = {"sum", "product", "max", "min", "xor", "and", "or"};
  return names[static_cast<int>(op)];
}

inline const char* path_name(scan::Path path) {
  static const char* const names[] = {"automatic", "single",  "group",
                                      "stream",    "cluster", "resident"};
  return names[static_cast<int>(path)];
}

}  // namespace gdelta::bench
