#include "kernels/checksum/part_check.h"

#include <array>
#include <bit>
#include <cstring>
#include <span>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/checksum/part_check.cpp"
#include "kernels/cpu/each_target.h"

#ifndef GDELTA_PART_CHECK_ROWS
#define GDELTA_PART_CHECK_ROWS
namespace gdelta {
namespace {

// Words are taken by rows of eight and rows by blocks: in a block, each word's power is that of its
// row times that of its column, and the columns' eight come last.
constexpr std::size_t kColumns = 8;
constexpr std::size_t kRows = 128;
constexpr std::size_t kBlockWords = kColumns * kRows;

constexpr auto kRowPowers = [] {
  std::array<std::uint64_t, kRows> powers{};
  const std::uint64_t step = check_power(kColumns);
  std::uint64_t power = 1;
  for (std::uint64_t& row : powers) {
    row = power;
    power *= step;
  }
  return powers;
}();

constexpr auto kColumnPowers = [] {
  std::array<std::uint64_t, kColumns> powers{};
  for (std::size_t i = 0; i < kColumns; ++i) powers[i] = check_power(i);
  return powers;
}();

/// A word of which the part has the first `bytes` bytes.
std::uint64_t load_cut_word(const unsigned char* p, std::size_t bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes; ++i) word |= std::uint64_t{p[i]} << (8 * i);
  return word;
}

std::uint64_t load_word(const unsigned char* p) {
  if constexpr (std::endian::native == std::endian::little) {
    std::uint32_t word = 0;
    std::memcpy(&word, p, sizeof word);
    return word;
  } else {
    return load_cut_word(p, 4);
  }
}

}  // namespace
}  // namespace gdelta
#endif

HWY_BEFORE_NAMESPACE();
namespace gdelta {
namespace HWY_NAMESPACE {
namespace {

#if GDELTA_HAS_VECTORS
namespace hn = hwy::HWY_NAMESPACE;

// The sum of `rows` rows, at most kRows. A product with a power of 64 bits is two of 32 bits; those with its upper half
// are summed apart and shifted once.
std::uint64_t check_rows(const unsigned char* bytes, std::size_t rows) {
  const hn::CappedTag<std::uint32_t, kColumns> d;
  const hn::RepartitionToWide<decltype(d)> sums;
  constexpr std::size_t kVectors = kColumns / hn::MaxLanes(d);  // of a row
  hn::Vec<decltype(sums)> low[kVectors][2], high[kVectors][2];  // of even and of odd columns
  for (std::size_t v = 0; v < kVectors; ++v)
    low[v][0] = low[v][1] = high[v][0] = high[v][1] = hn::Zero(sums);
  const hn::Repartition<std::uint8_t, decltype(d)> d8;
  for (const std::uint64_t row_power : std::span(kRowPowers).first(rows)) {
    const auto power = hn::Set(sums, row_power);
    const auto lower = hn::BitCast(d, power), upper = hn::BitCast(d, hn::ShiftRight<32>(power));
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto even = hn::BitCast(d, hn::LoadU(d8, bytes + v * hn::MaxLanes(d8)));
      const auto odd = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(sums, even)));
      low[v][0] = hn::Add(low[v][0], hn::MulEven(even, lower));
      low[v][1] = hn::Add(low[v][1], hn::MulEven(odd, lower));
      high[v][0] = hn::Add(high[v][0], hn::MulEven(even, upper));
      high[v][1] = hn::Add(high[v][1], hn::MulEven(odd, upper));
    }
    bytes += 4 * kColumns;
  }
  std::uint64_t sum = 0;
  for (std::size_t v = 0; v < kVectors; ++v) {
    for (std::size_t parity = 0; parity < 2; ++parity) {
      alignas(32) std::uint64_t columns[hn::MaxLanes(sums)];
      hn::Store(hn::Add(low[v][parity], hn::ShiftLeft<32>(high[v][parity])), sums, columns);
      for (std::size_t i = 0; i < hn::MaxLanes(sums); ++i)
        sum += columns[i] * kColumnPowers[v * hn::MaxLanes(d) + 2 * i + parity];
    }
  }
  return sum;
}
#else
std::uint64_t check_rows(const unsigned char* bytes, std::size_t rows) {
  std::uint64_t columns[kColumns] = {};
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < kColumns; ++i)
      columns[i] += load_word(bytes + 4 * (row * kColumns + i)) * kRowPowers[row];
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kColumns; ++i) sum += columns[i] * kColumnPowers[i];
  return sum;
}
#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gdelta
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdelta {

void PartCheck::add(const unsigned char* bytes, std::size_t num_bytes) {
  const auto check_rows = GDELTA_BEST(check_rows);
  static constexpr std::uint64_t kBlockPower = check_power(kBlockWords);
  for (; num_bytes >= 4 * kBlockWords; bytes += 4 * kBlockWords, num_bytes -= 4 * kBlockWords) {
    polynomial_ += power_ * check_rows(bytes, kRows);
    power_ *= kBlockPower;
  }
  if (const std::size_t rows = num_bytes / (4 * kColumns); rows > 0) {
    polynomial_ += power_ * check_rows(bytes, rows);
    power_ *= check_power(kColumns * rows);
    bytes += 4 * kColumns * rows;
    num_bytes -= 4 * kColumns * rows;
  }
  for (; num_bytes >= 4; bytes += 4, num_bytes -= 4) {
    polynomial_ += power_ * load_word(bytes);
    power_ *= kCheckBase;
  }
  if (num_bytes > 0) {
    polynomial_ += power_ * load_cut_word(bytes, num_bytes);
    power_ *= kCheckBase;
  }
}

std::uint32_t part_check(std::uint64_t tuples, const unsigned char* bytes, std::size_t num_bytes) {
  PartCheck check;
  check.add(bytes, num_bytes);
  return check.value(tuples);
}

}  // namespace gdelta
#endif
