#include "kernels/checksum/part_check.h"

#include <array>
#include <bit>
#include <cstring>

#include "kernels/cpu/cpu_targets.h"

#if GDELTA_HAS_AVX2_CODE
#include <immintrin.h>
#endif

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

/// The sum of `rows` rows, at most kRows.
std::uint64_t check_rows_baseline(const unsigned char* bytes, std::size_t rows) {
  std::uint64_t columns[kColumns] = {};
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < kColumns; ++i)
      columns[i] += load_word(bytes + 4 * (row * kColumns + i)) * kRowPowers[row];
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kColumns; ++i) sum += columns[i] * kColumnPowers[i];
  return sum;
}

#if GDELTA_HAS_AVX2_CODE

// A product with a power of 64 bits is two of 32 bits; those with its upper half are summed apart and
// shifted once.
GDELTA_AVX2 std::uint64_t check_rows_avx2(const unsigned char* bytes, std::size_t rows) {
  __m256i low[2] = {}, high[2] = {};  // of even and of odd columns
  for (std::size_t row = 0; row < rows; ++row) {
    const auto words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 32 * row));
    const __m256i odd = _mm256_srli_epi64(words, 32);
    const __m256i power = _mm256_set1_epi64x(static_cast<long long>(kRowPowers[row]));
    const __m256i upper = _mm256_srli_epi64(power, 32);
    low[0] = _mm256_add_epi64(low[0], _mm256_mul_epu32(words, power));
    low[1] = _mm256_add_epi64(low[1], _mm256_mul_epu32(odd, power));
    high[0] = _mm256_add_epi64(high[0], _mm256_mul_epu32(words, upper));
    high[1] = _mm256_add_epi64(high[1], _mm256_mul_epu32(odd, upper));
  }
  std::uint64_t sum = 0;
  for (std::size_t parity = 0; parity < 2; ++parity) {
    alignas(32) std::uint64_t columns[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(columns),
                       _mm256_add_epi64(low[parity], _mm256_slli_epi64(high[parity], 32)));
    for (std::size_t i = 0; i < 4; ++i) sum += columns[i] * kColumnPowers[2 * i + parity];
  }
  return sum;
}

#endif

std::uint64_t check_rows(const unsigned char* bytes, std::size_t rows) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return check_rows_avx2(bytes, rows);
#endif
  return check_rows_baseline(bytes, rows);
}

}  // namespace

void PartCheck::add(const unsigned char* bytes, std::size_t num_bytes) {
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
