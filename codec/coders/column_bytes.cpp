#include "codec/coders/column_bytes.h"

#include <algorithm>
#include <cstring>

#include "kernels/words/copy_tuples.h"

namespace gdelta {
namespace {

// Tuples that stand between others are gathered so many bytes at a time.
constexpr std::uint64_t kGatheredBytes = 4096;
static_assert(kGatheredBytes >= 2 * kMaxTupleBytes);

/// Whether every tuple of some that follow each other equals the one before.
bool are_equal(const unsigned char* tuples, std::size_t tuple_bytes, std::uint64_t count) {
  return std::memcmp(tuples, tuples + tuple_bytes, (count - 1) * tuple_bytes) == 0;
}

}  // namespace

bool ColumnBytes::has_equal_tuples() const {
  const auto tuple_bytes = static_cast<std::size_t>(column.bytes());
  if (is_whole_record()) return are_equal(first, tuple_bytes, records);
  // Most columns are seen to change by one look.
  if (std::memcmp(at(records - 1, 0), first, tuple_bytes) != 0) return false;
  unsigned char gathered[kGatheredBytes];
  const std::uint64_t most = kGatheredBytes / tuple_bytes;
  // The last of some are the first of the next.
  for (std::uint64_t begin = 0; begin + 1 < records; begin += most - 1) {
    const std::uint64_t count = std::min(most, records - begin);
    copy_tuples(at(begin, 0), record_bytes, gathered, tuple_bytes, tuple_bytes, count);
    if (!are_equal(gathered, tuple_bytes, count)) return false;
  }
  return true;
}

}  // namespace gdelta
