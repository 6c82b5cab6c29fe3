// What the device encodes is, byte for byte, what the CPU encodes: type × order × tuple × length,
// strides, mixed records, whatever the planner chooses, pieces of any size.
#ifdef GDELTA_HAS_CUDA
#include <bit>
#include <random>

#include "codec/cuda/cuda_cases.h"
#include "codec/cuda/encode_pipeline.h"
#include "codec/plan/planner.h"

namespace gdelta::test {
namespace {

using cuda::EncodePipeline;

/// Chunks with a plan each.
struct EncodeBatch {
  std::vector<Layout> layouts;
  std::vector<Bytes> values;
  std::vector<ChunkPlan> plans;

  void add(const Layout& layout, Bytes bytes, const format::ColumnModel& model) {
    ChunkPlan plan;
    plan.columns.assign(layout.columns.size(), model);
    for (std::size_t c = 0; c < layout.columns.size(); ++c) {
      if (!is_float(layout.columns[c].type)) plan.columns[c].front.map = ValueMap::none;
    }
    layouts.push_back(layout);
    values.push_back(std::move(bytes));
    plans.push_back(std::move(plan));
  }
};

void expect_bytes_of_cpu(const EncodeBatch& batch, std::uint64_t piece_bytes = 64u << 20) {
  std::vector<EncodeJob> jobs(batch.values.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].values = batch.values[i];
    jobs[i].layout = &batch.layouts[i];
  }
  Workers workers(2);
  EncodePipeline pipeline(0, piece_bytes, workers);
  const auto plan = [&](const EncodeJob& job, Work*) { return batch.plans[&job - jobs.data()]; };
  ProgressMeter progress;
  const auto done = pipeline.run(jobs, plan, progress);
  ASSERT_TRUE(done) << done.error().to_string();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Bytes by_cpu = encode_chunk(batch.values[i], batch.layouts[i], false, batch.plans[i]);
    ASSERT_EQ(jobs[i].block.size(), by_cpu.size())
        << to_string(batch.layouts[i]) << " job " << i << " of " << batch.values[i].size()
        << " bytes, order " << int{batch.plans[i].columns[0].front.orders[0]};
    const auto differs = std::mismatch(by_cpu.begin(), by_cpu.end(), jobs[i].block.begin());
    ASSERT_TRUE(differs.first == by_cpu.end())
        << to_string(batch.layouts[i]) << " job " << i << " of " << batch.values[i].size()
        << " bytes, order " << int{batch.plans[i].columns[0].front.orders[0]} << ", byte "
        << differs.first - by_cpu.begin() << " of " << by_cpu.size();
  }
}

TEST(CudaEncodeSmall, WritesTheBytesOfTheCpuForEveryTypeOrderAndShape) {
  GDELTA_NEEDS_GPU();
  EncodeBatch batch;
  for (int type = 0; type < kNumValueTypes; ++type) {
    for (const bool big_endian : {false, true}) {
      const Layout layout{{{static_cast<ValueType>(type), 3, big_endian}}};
      for (const Pattern pattern : kPatterns) {
        for (int order = 0; order <= kMaxOrder; ++order) {
          auto model = pack_model(order, 3);
          model.front.map = order % 2 == 0 ? ValueMap::none : ValueMap::ordered;
          batch.add(layout, make_values(layout, 500, pattern), model);
        }
      }
    }
  }
  expect_bytes_of_cpu(batch);
}

// Tuples that do not follow each other, with an order for each lane.
TEST(CudaEncodeSmall, WritesTheBytesOfTheCpuForWideTuplesInRecords) {
  GDELTA_NEEDS_GPU();
  for (const char* record :
       {"u8x5,u8x5", "i16x6,i16x6", "i24x9,i24x9", "f32x8,f32x8", "i64x5,i64x5"}) {
    const Layout layout = parse_record(record).value();
    const int tuple = layout.columns[0].tuple;
    EncodeBatch batch;
    for (const Pattern pattern : kPatterns) {
      auto model = pack_model(0, 8);
      for (int lane = 0; lane < tuple; ++lane)
        model.front.orders[lane] = static_cast<std::uint8_t>(lane * 5 % (kMaxOrder + 1));
      batch.add(layout, make_values(layout, 1100, pattern), model);
    }
    expect_bytes_of_cpu(batch);
  }
}

TEST(CudaEncodeSmall, WritesTheBytesOfTheCpuForLengthsAtEveryEdge) {
  GDELTA_NEEDS_GPU();
  EncodeBatch batch;
  for (const int tuple : {1, 2, 3, 4, 5, 7, 8, 16, 31, 64}) {
    for (const ValueType type :
         {ValueType::u8, ValueType::i16, ValueType::i24, ValueType::i32, ValueType::f64}) {
      const Layout layout{{{type, static_cast<std::uint8_t>(tuple), false}}};
      for (const std::uint64_t records :
           {1, 2, 3, 4, 7, 8, 9, 127, 128, 129, 255, 256, 257, 383, 384, 385, 700}) {
        for (const std::uint32_t page_groups : {1u, 2u, 5u, 32u})
          batch.add(layout, make_values(layout, records, Pattern::smooth),
                    pack_model(static_cast<int>(records % 9), page_groups));
        auto raw = pack_model(0);
        raw.section.coder = Coder::raw;
        batch.add(layout, make_values(layout, records, Pattern::equal), raw);
        batch.add(layout, make_values(layout, records, Pattern::equal), pack_model(1));
        batch.add(layout, make_values(layout, records, Pattern::random), pack_model(1));
        auto zstd = pack_model(1);
        zstd.section.coder = Coder::zstd;
        batch.add(layout, make_values(layout, records, Pattern::repeated), zstd);
      }
    }
  }
  expect_bytes_of_cpu(batch);
}

TEST(CudaEncodeSmall, WritesTheBytesOfTheCpuForOrdersThatDifferByLane) {
  GDELTA_NEEDS_GPU();
  EncodeBatch batch;
  for (const int tuple : {2, 3, 9, 64}) {
    for (const ValueType type : {ValueType::i16, ValueType::i32, ValueType::i64}) {
      const Layout layout{{{type, static_cast<std::uint8_t>(tuple), false}}};
      for (int shift = 0; shift < 9; ++shift) {
        auto model = pack_model(0, 2);
        for (int lane = 0; lane < tuple; ++lane)
          model.front.orders[lane] = static_cast<std::uint8_t>((lane + shift) % 9);
        batch.add(layout, make_values(layout, 600, Pattern::smooth), model);
        batch.add(layout, make_values(layout, 600, Pattern::extremes), model);
      }
    }
  }
  expect_bytes_of_cpu(batch);
}

/// Chunks with one and two strides, and one with none.
void add_strided(EncodeBatch& batch, const Layout& layout, int order) {
  for (const std::uint32_t stride : {2u, 5u, 33u, 200u}) {
    for (const Pattern pattern : kPatterns) {
      const Bytes values = make_values(layout, 4 * stride + 3, pattern);
      auto model = pack_model(order);
      batch.add(layout, values, model);
      model.front.num_strides = 2;
      model.front.strides[0] = {stride, 1};
      model.front.strides[1] = {2, 8};
      batch.add(layout, values, model);
      std::swap(model.front.strides[0], model.front.strides[1]);
      model.front.map = ValueMap::ordered;
      batch.add(layout, values, model);
      model.front.num_strides = 1;
      model.front.strides[0] = {stride, 3};
      batch.add(layout, values, model);
    }
  }
}

constexpr ValueType kTypeOfEachWidth[] = {ValueType::i8, ValueType::u16, ValueType::i24,
                                          ValueType::f32, ValueType::u64};

TEST(CudaEncodeSmall, WritesTheBytesOfTheCpuForStridesOfAnyOrder) {
  GDELTA_NEEDS_GPU();
  EncodeBatch batch;
  for (const ValueType type : kTypeOfEachWidth)
    for (const int tuple : {1, 3, 5})
      add_strided(batch, {{{type, static_cast<std::uint8_t>(tuple), false}}}, 2);
  expect_bytes_of_cpu(batch);
}

/// Chunks of one layout are encoded a warp a page.
TEST(CudaEncodeSmall, WritesTheBytesOfTheCpuForStridesOfOneLayout) {
  GDELTA_NEEDS_GPU();
  for (const ValueType type : kTypeOfEachWidth) {
    for (const int tuple : {1, 2, 3, 4}) {
      EncodeBatch batch;
      for (const int order : {0, 2})
        add_strided(batch, {{{type, static_cast<std::uint8_t>(tuple), tuple == 2}}}, order);
      expect_bytes_of_cpu(batch);
    }
  }
}

TEST(CudaEncodeSmall, WritesTheBytesOfTheCpuForMixedRecords) {
  GDELTA_NEEDS_GPU();
  const auto layout = parse_record("i32x3,u16,u8x2,f64,i24:bex5,f32,f16,bf16:be,u64");
  ASSERT_TRUE(layout);
  EncodeBatch batch;
  for (const std::uint64_t records : {1, 2, 127, 128, 500, 5000}) {
    for (const Pattern pattern : kPatterns) {
      auto model = pack_model(3, 2);
      model.front.map = ValueMap::ordered;
      if (records >= 16) {
        model.front.num_strides = 1;
        model.front.strides[0] = {4, 1};
      }
      batch.add(*layout, make_values(*layout, records, pattern), model);
      batch.plans.back().columns[1].section.coder = Coder::raw;
    }
  }
  expect_bytes_of_cpu(batch);
}

TEST(CudaEncode, WritesTheBytesOfTheCpuWhateverThePieces) {
  GDELTA_NEEDS_GPU();
  EncodeBatch batch;
  for (const char* record : {"i32x3", "f64", "u8x7", "i16x2,f32"}) {
    const Layout layout = parse_record(record).value();
    for (std::uint64_t records = 1; records < 60000; records = records * 3 + 1) {
      for (const Pattern pattern : {Pattern::smooth, Pattern::random, Pattern::equal})
        batch.add(layout, make_values(layout, records, pattern, records), pack_model(2, 8));
    }
  }
  for (const std::uint64_t piece_bytes : {1ull, 10000ull, 1ull << 20, 1ull << 30})
    expect_bytes_of_cpu(batch, piece_bytes);
}

TEST(CudaEncode, WritesTheBytesOfTheCpuForWhatThePlannerChooses) {
  GDELTA_NEEDS_GPU();
  for (const int level : {1, 2, 4}) {
    EncodeSettings settings;
    settings.level = level;
    EncodeBatch batch;
    for (const char* record : {"i32x3", "u16", "f32x2", "i24:be", "f64", "u8x7", "i16x2,f32"}) {
      const Layout layout = parse_record(record).value();
      for (const Pattern pattern : kPatterns) {
        batch.add(layout, make_values(layout, 20000, pattern), pack_model(0));
        batch.plans.back() = plan_chunk(batch.values.back(), layout, false, settings);
      }
    }
    expect_bytes_of_cpu(batch);
  }
}

/// Tuples of which all lanes follow the first in `step`s, over `divisor`.
Bytes led_tuples(const Column& column, std::uint64_t records, std::int64_t step, double divisor) {
  std::mt19937_64 random(3);
  Bytes bytes;
  std::int64_t walk = 40000;
  for (std::uint64_t i = 0; i < records; ++i) {
    walk += static_cast<std::int64_t>(random() % 601) - 300;
    for (int lane = 0; lane < column.tuple; ++lane) {
      const std::int64_t number = step * (walk + static_cast<std::int64_t>(random() % 4));
      if (is_float(column.type)) {
        put_float(bytes, column, static_cast<double>(number) / divisor);
      } else {
        put_value(bytes, static_cast<std::uint64_t>(number), value_bytes(column.type),
                  column.big_endian);
      }
    }
  }
  return bytes;
}

TEST(CudaEncodeSmall, PacksColumnsBehindMaps) {
  GDELTA_NEEDS_GPU();
  EncodeBatch batch;
  EncodeSettings settings;
  settings.level = 1;
  for (const char* record : {"f64", "f32:bex3", "i64", "i32x2", "i16x2", "u8x4", "i24:bex3"})
    for (const std::uint64_t records : {200, 5000}) {
      const Layout layout = parse_record(record).value();
      const bool steps = value_bytes(layout.columns[0].type) >= 4;
      Bytes values = led_tuples(layout.columns[0], records, steps ? 50 : 1, 1000);
      ChunkPlan plan = plan_chunk(values, layout, false, settings);
      ASSERT_FALSE(plan.maps.at(0).empty()) << record;
      const EncodeJob job{.values = values, .layout = &layout, .block = {}};
      EXPECT_TRUE(EncodePipeline::is_for_device(job, plan, true)) << record;
      EXPECT_TRUE(EncodePipeline::is_for_device(job, plan, false)) << record;
      batch.layouts.push_back(layout);
      batch.values.push_back(std::move(values));
      batch.plans.push_back(std::move(plan));
    }
  // Several columns, one of which has none.
  const Layout layout = parse_record("f64x2,u16,i16x2").value();
  Bytes values;
  std::vector<Bytes> columns;
  for (const Column& column : layout.columns) columns.push_back(led_tuples(column, 3000, 1, 1000));
  for (std::size_t i = 0; i < 3000; ++i)
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto bytes = static_cast<std::ptrdiff_t>(layout.columns[c].bytes());
      const auto at = columns[c].begin() + static_cast<std::ptrdiff_t>(i) * bytes;
      values.insert(values.end(), at, at + bytes);
    }
  ChunkPlan plan = plan_chunk(values, layout, false, settings);
  ASSERT_FALSE(plan.maps.at(0).empty() || plan.maps.at(2).empty());
  EXPECT_TRUE(plan.maps.at(1).empty());
  const EncodeJob job{.values = values, .layout = &layout, .block = {}};
  EXPECT_TRUE(EncodePipeline::is_for_device(job, plan, true));
  EXPECT_FALSE(EncodePipeline::is_for_device(job, plan, false));
  batch.layouts.push_back(layout);
  batch.values.push_back(std::move(values));
  batch.plans.push_back(std::move(plan));
  expect_bytes_of_cpu(batch);
  expect_bytes_of_cpu(batch, 1000);
}

// Exceptions have the words of the values before them, so equal words do not stand for equal values.
TEST(CudaEncodeSmall, LeavesMapsWithExceptionsToTheHost) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("f64").value();
  Bytes values;
  for (int i = 0; i < 5000; ++i)
    put_value(values, std::bit_cast<std::uint64_t>(i == 4000 ? 1.0 / 3 : 1.25), 8, false);
  ChunkPlan plan;
  plan.columns.push_back(pack_model(0, 0));
  plan.maps.push_back(
      {.lanes = {{.map = static_cast<std::uint8_t>(ValueMap::decimal), .step = 2}}, .steps = {}});
  plan.mapped.push_back(std::make_shared<MappedColumn>(
      ColumnBytes{.first = reinterpret_cast<const unsigned char*>(values.data()),
                  .record_bytes = 8,
                  .records = 5000,
                  .column = layout.columns[0]},
      plan.maps[0], Workers::alone()));
  ASSERT_EQ(plan.mapped[0]->exceptions(), 1u);
  const EncodeJob job{.values = values, .layout = &layout, .block = {}};
  EXPECT_FALSE(EncodePipeline::is_for_device(job, plan, true));
  EncodeBatch batch;
  batch.layouts.push_back(layout);
  batch.values.push_back(std::move(values));
  batch.plans.push_back(std::move(plan));
  expect_bytes_of_cpu(batch);
}

}  // namespace
}  // namespace gdelta::test
#endif
