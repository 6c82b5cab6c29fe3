// The fields of the ans coder as a warp reads them on the simulated device: its verdict, and where it stops, are those of
// the parser that one thread has, for right fields and for damaged ones.
#include "codec/cuda/container/ans_fields_warp.cuh"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/device/launch.cuh"
#include "simulator/guarded_bytes.h"

namespace gdelta::cuda {
namespace {

using format::AnsFields;
using format::Cursor;
using format::HeadError;
using Bytes = std::vector<unsigned char>;
using Random = std::mt19937;

struct Verdict {
  HeadError error;
  std::uint64_t at;  // where the cursor stands, if there is no error
};

/// Fields that lie one behind the other: where those of a case begin, and where the last ones end.
__global__ void read_kernel(const unsigned char* bytes, const std::uint64_t* begins, int num_cases,
                            int value_bits, Verdict* verdicts) {
  __shared__ AnsBinStarts starts;
  for (int i = 0; i < num_cases; ++i) {
    Cursor cursor{bytes, begins[i + 1], begins[i]};
    const HeadError error = read_ans_fields(cursor, value_bits, starts);
    verdicts[32 * i + threadIdx.x] = {error, cursor.at};
  }
}

void add_varint(Bytes& bytes, std::uint64_t value) {
  unsigned char varint[format::kMaxVarintBytes];
  bytes.insert(bytes.end(), varint, varint + format::write_varint(varint, value));
}

/// Right fields: tables of up to `most_bins` bins each, of values of so many bits.
Bytes right_fields(Random& random, int slot_bits, int num_tables, int most_bins, int value_bits) {
  Bytes bytes = {static_cast<unsigned char>(slot_bits), 5, static_cast<unsigned char>(num_tables)};
  for (int table = 0; table < num_tables; ++table) {
    const int bins = std::min<int>(1 + random() % most_bins, 1 << slot_bits);
    add_varint(bytes, bins - 1);
    int left = 1 << slot_bits;
    for (int bin = 0; bin < bins; ++bin) {
      const int spare = left - (bins - bin);  // beside one for each bin that is left
      const int frequency =
          bin + 1 == bins ? left : 1 + (spare > 0 ? random() % (spare + 1) / 4 : 0);
      left -= frequency;
      add_varint(bytes, frequency);
      // Some bins beside zero, then a wide one first and small ones behind it.
      const bool wide = bin == 0 && value_bits > 8 && random() % 2 == 0;
      bytes.push_back(static_cast<unsigned char>(bins > 100 ? 0
                                                 : wide     ? value_bits - 2
                                                            : random() % 3));
      const std::int64_t distance = bin > 0 ? static_cast<std::int64_t>(random() % 2)
                                    : wide  ? -(std::int64_t{1} << (value_bits - 2))
                                            : -static_cast<std::int64_t>(random() % 60);
      add_varint(bytes, static_cast<std::uint64_t>(distance) << 1 ^
                            static_cast<std::uint64_t>(distance >> 63));
    }
  }
  return bytes;
}

/// Compares all cases; returns how many are right.
int expect_verdicts(const std::vector<Bytes>& cases, int value_bits, std::size_t skew) {
  Bytes all;
  std::vector<std::uint64_t> begins = {0};
  for (const Bytes& fields : cases) {
    all.insert(all.end(), fields.begin(), fields.end());
    begins.push_back(all.size());
  }
  const simulator::GuardedBytes room(all, skew, true);
  const int num_cases = static_cast<int>(cases.size());
  std::vector<Verdict> verdicts(32 * cases.size());
  EXPECT_EQ(device::launch_kernel(read_kernel, 1, 32, nullptr, room.data(), begins.data(),
                                  num_cases, value_bits, verdicts.data()),
            cudaSuccess);
  int right = 0;
  for (int i = 0; i < num_cases; ++i) {
    Cursor cursor{room.data(), begins[i + 1], begins[i]};
    const HeadError expected = format::parse_ans_fields(cursor, value_bits);
    right += expected == HeadError::none ? 1 : 0;
    for (int thread = 0; thread < 32; ++thread) {
      const Verdict& verdict = verdicts[32 * i + thread];
      EXPECT_EQ(verdict.error, expected) << "case " << i << ", thread " << thread;
      if (expected == HeadError::none) {
        EXPECT_EQ(verdict.at, cursor.at) << "case " << i;
      }
    }
  }
  return right;
}

TEST(AnsFieldsSimulator, RightTablesOfEverySizeAreRead) {
  Random random(1);
  for (const int value_bits : {8, 16, 24, 32, 64}) {
    std::vector<Bytes> cases;
    for (const int bins : {1, 2, 10, 31, 32, 33, 64, 65, 128, 255, 256})
      for (const int tables : {1, 2, 4})
        cases.push_back(right_fields(random, 10, tables, bins, value_bits));
    EXPECT_GT(expect_verdicts(cases, value_bits, value_bits % 7), 20) << value_bits;
  }
}

TEST(AnsFieldsSimulator, DamagedTablesAreJudgedAlike) {
  Random random(2);
  for (const int value_bits : {8, 16, 32, 64}) {
    std::vector<Bytes> cases;
    for (int i = 0; i < 400; ++i) {
      Bytes fields =
          right_fields(random, 5 + random() % 4, 1 + random() % 3, 1 + random() % 70, value_bits);
      const std::size_t at = random() % fields.size();
      switch (random() % 6) {
        case 0:
          fields.resize(at);
          break;
        case 1:
          fields[at] ^= static_cast<unsigned char>(1 << random() % 8);
          break;
        case 2:
          fields[at] = static_cast<unsigned char>(random());
          break;
        case 3:
          fields.insert(fields.begin() + at, 1 + random() % 30, 0x80 | random() % 2);
          break;
        case 4:
          fields.insert(fields.begin() + at, 9, 0xff);
          break;
        default:
          fields.erase(fields.begin() + at);
      }
      cases.push_back(fields);
    }
    const int right = expect_verdicts(cases, value_bits, 3);
    EXPECT_LT(right, 300);
  }
}

/// 32 bins with two slots each of 32, and one with what is missing to 2^32 more.
TEST(AnsFieldsSimulator, SlotsDoNotBeginAnewBelowZero) {
  Bytes fields = {5, 5, 1, 32};
  for (int bin = 0; bin < 32; ++bin) fields.insert(fields.end(), {2, 0, 0});
  add_varint(fields, (1ull << 32) - 32);
  fields.insert(fields.end(), {0, 0});
  EXPECT_EQ(expect_verdicts({fields}, 32, 0), 0);
}

TEST(AnsFieldsSimulator, FieldsThatNeverEndAreRefused) {
  for (const std::size_t length : {0, 1, 3, 4, 700, 5000}) {
    Bytes fields = {5, 5, 1, 31};
    fields.resize(std::max<std::size_t>(length, 3), 0x80);
    EXPECT_EQ(expect_verdicts({fields}, 32, 0), 0);
    std::fill(fields.begin() + 3, fields.end(), static_cast<unsigned char>(0xff));
    EXPECT_EQ(expect_verdicts({fields}, 32, 0), 0);
  }
}

}  // namespace
}  // namespace gdelta::cuda
