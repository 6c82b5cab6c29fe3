#include "codec/coders/apart_columns.h"

#include <algorithm>

#include "kernels/words/copy_tuples.h"

namespace gdelta {
namespace {

// Records that a first cache holds while each column takes its tuples out of them.
constexpr std::uint64_t kCachedBytes = 16 << 10;
// Fewer are not worth another thread.
constexpr std::uint64_t kFewestRecords = 1 << 14;

}  // namespace

ApartColumns::ApartColumns(std::span<const std::byte> values, const Layout& layout,
                           Workers& workers)
    : bytes_(std::make_unique_for_overwrite<unsigned char[]>(values.size())) {
  const std::uint64_t record_bytes = layout.record_bytes(), records = values.size() / record_bytes;
  std::uint64_t offset = 0;
  std::vector<std::uint64_t> offsets;  // in the record
  for (const Column& column : layout.columns) {
    const auto tuple_bytes = static_cast<std::uint64_t>(column.bytes());
    columns_.push_back({.first = bytes_.get() + records * offset,
                        .record_bytes = tuple_bytes,
                        .records = records,
                        .column = column});
    offsets.push_back(offset);
    offset += tuple_bytes;
  }
  const auto* const from = reinterpret_cast<const unsigned char*>(values.data());
  const std::uint64_t at_once = std::max<std::uint64_t>(kCachedBytes / record_bytes, 1);
  workers.for_ranges(records, kFewestRecords, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t first = begin; first < end; first += at_once) {
      const std::uint64_t count = std::min(at_once, end - first);
      for (std::size_t c = 0; c < offsets.size(); ++c) {
        const std::uint64_t tuple_bytes = columns_[c].record_bytes;
        copy_tuples(from + first * record_bytes + offsets[c], record_bytes,
                    bytes_.get() + records * offsets[c] + first * tuple_bytes, tuple_bytes,
                    tuple_bytes, count);
      }
    }
  });
}

}  // namespace gdelta
