// Columns of records that have several, each by itself: planning and encoding read a column many times.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "codec/coders/column_bytes.h"
#include "codec/coders/workers.h"

namespace gdelta {

class ApartColumns {
 public:
  /// Copies whole records of `layout`.
  ApartColumns(std::span<const std::byte> values, const Layout& layout, Workers& workers);

  /// Column number `c`; good as long as this is there.
  const ColumnBytes& operator[](std::size_t c) const { return columns_[c]; }

 private:
  std::unique_ptr<unsigned char[]> bytes_;
  std::vector<ColumnBytes> columns_;
};

}  // namespace gdelta
