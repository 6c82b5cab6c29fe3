// The most memory that a stretch of work held.
#pragma once

#include <cstdint>
#include <optional>

namespace gdelta::cli {

/// Counts from its making on. One at a time; the whole process counts.
class PeakMemory {
 public:
  PeakMemory();
  /// Bytes of main memory that the process held at most since then, beyond what it held at that
  /// time. Nothing if the system does not tell.
  std::optional<std::uint64_t> bytes() const;

 private:
  std::optional<std::uint64_t> before_;
};

}  // namespace gdelta::cli
