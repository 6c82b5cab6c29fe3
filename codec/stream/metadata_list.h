// What becomes of the metadata blocks of a file.
#pragma once

#include <cstdint>
#include <vector>

#include "gdelta/error.h"
#include "gdelta/types.h"

namespace gdelta {

/// Counts what entries take, against a memory limit.
class MetadataBudget {
 public:
  explicit MetadataBudget(std::uint64_t memory_limit) : memory_limit_(memory_limit) {}
  /// Errors      memory_limit
  Result<void> take(const std::vector<MetadataEntry>& entries);

 private:
  std::uint64_t memory_limit_;
  std::uint64_t held_ = 0;
};

/// Collects what a walk over a file tells, block by block.
class MetadataList {
 public:
  explicit MetadataList(std::uint64_t memory_limit) : budget_(memory_limit) {}
  /// Nothing more is held once the limit has been passed.
  void add(std::vector<MetadataEntry>&& entries);
  /// Gives each key once, where it first occurs, with its last value.
  /// Errors      memory_limit
  Result<std::vector<MetadataEntry>> take();
  const Result<void>& state() const { return state_; }

 private:
  MetadataBudget budget_;
  Result<void> state_;
  std::vector<MetadataEntry> entries_;
};

/// Gives each key once, where it first occurs, with its last value.
std::vector<MetadataEntry> last_values(std::vector<MetadataEntry> all);

}  // namespace gdelta
