#include "codec/coders/part_checks.h"

#include <algorithm>

#include "kernels/checksum/part_check.h"
#include "kernels/words/copy_tuples.h"

namespace gdelta {
namespace {

// Tuples that stand between others are gathered so many bytes at a time.
constexpr std::uint64_t kGatheredBytes = 16 << 10;
// Fewer are not worth another thread.
constexpr std::uint64_t kFewestParts = 16;
static_assert(kGatheredBytes / kMaxTupleBytes % 4 == 0);

std::uint32_t check_tuples(const ColumnBytes& column, std::uint64_t first, std::uint64_t count) {
  const auto bytes = static_cast<std::uint64_t>(column.column.bytes());
  if (column.is_whole_record()) return part_check(count, column.at(first, 0), count * bytes);
  unsigned char gathered[kGatheredBytes];
  // Whole words in every stretch but the last.
  const std::uint64_t stretch = kGatheredBytes / bytes / 4 * 4;
  PartCheck check;
  for (std::uint64_t done = 0; done < count; done += stretch) {
    const std::uint64_t tuples = std::min(stretch, count - done);
    copy_tuples(column.at(first + done, 0), column.record_bytes, gathered, bytes, bytes, tuples);
    check.add(gathered, tuples * bytes);
  }
  return check.value(count);
}

}  // namespace

std::uint32_t check_of_part(const ColumnBytes& column, const format::Section& section,
                            std::uint64_t part) {
  if (format::coder_traits(section.coder).bound == format::SectionBound::one_tuple)
    return part_check(column.records, column.at(0, 0),
                      static_cast<std::size_t>(column.column.bytes()));
  const std::uint64_t tuples = format::part_tuples(section, column.records);
  const std::uint64_t first = part * tuples;
  return check_tuples(column, first, std::min(tuples, column.records - first));
}

std::vector<std::uint32_t> checks_of_parts(const ColumnBytes& column,
                                           const format::Section& section, Workers& workers) {
  std::vector<std::uint32_t> checks(format::num_parts(section, column.records));
  workers.for_ranges(checks.size(), kFewestParts, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t part = begin; part < end; ++part)
      checks[part] = check_of_part(column, section, part);
  });
  return checks;
}

}  // namespace gdelta
