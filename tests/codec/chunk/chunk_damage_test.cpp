// Damaged chunks: every truncation is an error, every flipped bit, and every rule of pages and frames
// that is broken behind a valid check.
#include <gtest/gtest.h>

#include <functional>

#include "codec/chunk/chunk_cases.h"
#include "codec/chunk/chunk_encode.h"
#include "codec/chunk/decode_block.h"
#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/chunk_block.h"

namespace gdelta::test {
namespace {

struct Sample {
  std::string name;
  Layout layout;
  Bytes values;
  Bytes block;
};

Sample make_sample(std::string name, const std::string& record, std::uint64_t records,
                   Pattern pattern, const format::ColumnModel& model) {
  Sample sample{
      .name = std::move(name), .layout = parse_record(record).value(), .values = {}, .block = {}};
  sample.values = make_values(sample.layout, records, pattern);
  ChunkPlan plan;
  plan.columns.assign(sample.layout.columns.size(), model);
  sample.block = encode_chunk(sample.values, sample.layout, false, plan);
  return sample;
}

format::ColumnModel model_of(Coder coder) {
  format::ColumnModel model;
  model.section.coder = coder;
  if (coder == Coder::pack) model.section.part_groups = 1;
  std::fill_n(model.front.orders, kMaxTuple, std::uint8_t{2});
  return model;
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  all.push_back(make_sample("raw", "i16x3", 20, Pattern::random, model_of(Coder::raw)));
  all.push_back(make_sample("constant", "f64", 50, Pattern::equal, model_of(Coder::pack)));
  all.push_back(make_sample("pack", "i32", 300, Pattern::smooth, model_of(Coder::pack)));
  auto strided = model_of(Coder::pack);
  strided.front.num_strides = 1;
  strided.front.strides[0] = {7, 1};
  all.push_back(make_sample("strided pack", "u16x2", 140, Pattern::smooth, strided));
  all.push_back(make_sample("zstd", "u32", 120, Pattern::smooth, model_of(Coder::zstd)));
  auto planes = model_of(Coder::zstd);
  planes.section.arrangement = format::Arrangement::plane_frames;
  planes.section.part_groups = 1;
  all.push_back(make_sample("zstd planes", "i16x2", 200, Pattern::repeated, planes));
  all.push_back(make_sample("mixed", "i32x2,u8,f32", 130, Pattern::smooth, model_of(Coder::pack)));
  return all;
}

// Without an error the values have to be right.
std::optional<Error> decode(const Sample& sample, std::span<const std::byte> block) {
  // The exact size on the heap lets AddressSanitizer see reads behind the end.
  const Bytes copy(block.begin(), block.end());
  Bytes out(sample.values.size());
  auto error = decode_block(copy, 1000, sample.layout, out, true);
  EXPECT_TRUE(error || out == sample.values) << sample.name;
  return error;
}

TEST(ChunkDamage, SamplesUseTheirCoder) {
  for (const Sample& sample : samples()) {
    const auto chunk = format::parse_chunk_block(sample.block, 0, sample.layout);
    ASSERT_TRUE(chunk) << sample.name;
    const Coder coder = chunk->columns[0].model.section.coder;
    EXPECT_EQ(coder, sample.name == "raw"                            ? Coder::raw
                     : sample.name == "constant"                     ? Coder::constant
                     : sample.name.find("zstd") != std::string::npos ? Coder::zstd
                                                                     : Coder::pack)
        << sample.name;
    EXPECT_FALSE(decode(sample, sample.block)) << sample.name;
  }
}

TEST(ChunkDamage, EveryTruncationIsReportedAsTruncated) {
  for (const Sample& sample : samples()) {
    for (std::size_t size = 0; size < sample.block.size(); ++size) {
      const auto error = decode(sample, std::span(sample.block).first(size));
      ASSERT_TRUE(error) << sample.name << " cut at " << size;
      ASSERT_EQ(error->code, Errc::truncated) << sample.name << " cut at " << size;
      ASSERT_EQ(error->byte, 1000u);
    }
  }
}

// Of a page every bit counts: padding is zero, and highs end with the type.
TEST(ChunkDamage, EveryFlippedBitIsAnError) {
  for (const Sample& sample : samples()) {
    const bool zstd = sample.name.find("zstd") != std::string::npos;
    const std::uint64_t payload_at =
        format::parse_chunk_block(sample.block, 0, sample.layout)->frame.payload_at();
    Bytes block = sample.block;
    for (std::size_t bit = 0; bit < 8 * block.size(); ++bit) {
      block[bit / 8] ^= std::byte{1} << (bit % 8);
      const bool refused = decode(sample, block).has_value();  // else the values are the same
      block[bit / 8] ^= std::byte{1} << (bit % 8);
      // Some bits of a frame say nothing.
      if (zstd && bit >= 8 * payload_at) continue;
      ASSERT_TRUE(refused) << sample.name << " bit " << bit;
    }
  }
}

// Flips bits of the head and makes its check right again: only the checks of the fields and of the
// content stand between them and the decoder.
TEST(ChunkDamage, EveryFlippedBitBehindAValidCheckIsAnError) {
  for (const Sample& sample : samples()) {
    const auto chunk = format::parse_chunk_block(sample.block, 0, sample.layout);
    ASSERT_TRUE(chunk);
    const std::size_t check_at = chunk->frame.check_at();
    for (std::size_t bit = 8 * chunk->frame.head_at; bit < 8 * check_at; ++bit) {
      Bytes block = sample.block;
      block[bit / 8] ^= std::byte{1} << (bit % 8);
      const std::uint32_t check = format::block_check(std::span(block).first(check_at));
      format::store_le(reinterpret_cast<format::Byte*>(block.data()) + check_at, 4, check);
      const auto parsed = format::parse_chunk_block(block, 0, sample.layout);
      // A constant chunk may claim to be huge; that is the memory limit's business.
      if (!parsed || parsed->records > 1u << 20) continue;
      Bytes out(parsed->records * sample.layout.record_bytes());
      const auto error = decode_block(block, 0, sample.layout, out, true);
      // A stride may say the same thing twice; values may not differ.
      ASSERT_TRUE(error || out == sample.values) << sample.name << " bit " << bit;
    }
  }
}

// A chunk of one column written field by field.
Bytes forge(const std::function<void(Bytes&)>& write_models, std::uint64_t records,
            std::uint64_t payload_bytes, const Bytes& payload) {
  Bytes models, block;
  write_models(models);
  format::append_chunk_head(block, false, records, payload_bytes, models);
  block.insert(block.end(), payload.begin(), payload.end());
  return block;
}

void append(Bytes& out, std::initializer_list<int> bytes) {
  for (const int byte : bytes) out.push_back(static_cast<std::byte>(byte));
}

// One page of eight u8 after another: what breaks check 6 is reported at the page.
std::optional<Error> decode_pages(const Bytes& payload, std::vector<int> ends) {
  const Layout layout = parse_record("u8").value();
  format::ColumnModel pages;
  pages.section.coder = Coder::pack;
  pages.section.part_groups = 1;
  const Bytes block = forge(
      [&](Bytes& out) {
        format::append_column_model(
            out, layout.columns[0], pages, payload.size(),
            {{ends.begin(), ends.end()}, std::vector<std::uint32_t>(ends.size()), {}, {}, {}, {}});
      },
      ends.size() == 1 ? 8 : 136, payload.size(), payload);
  Bytes out(ends.size() == 1 ? 8 : 136);
  auto error = decode_block(block, 5000, layout, out, false);
  if (error) *error->byte -= 5000 + block.size() - payload.size();
  return error;
}

TEST(ChunkDamage, PagesThatBreakARuleAreReportedWhereTheyBegin) {
  const auto descriptor = [](int width, int count, int log2) {
    const int bits = width | count << 7 | log2 << 14;
    Bytes out;
    format::append_le(out, 2, bits);
    return out;
  };
  const auto with = [](Bytes bytes, std::size_t zeros) {
    bytes.resize(bytes.size() + zeros);
    return bytes;
  };
  const auto size = [](const Bytes& bytes) { return std::vector{static_cast<int>(bytes.size())}; };

  const Bytes good = with(descriptor(1, 0, 0), 16);
  EXPECT_FALSE(decode_pages(good, size(good)));
  const auto exception_at = [&](int position, int high) {
    Bytes page = with(descriptor(1, 1, 0), 16);
    append(page, {position, high});
    return page;
  };
  EXPECT_FALSE(decode_pages(exception_at(0, 1), {20}));
  EXPECT_FALSE(decode_pages(exception_at(7, 1), {20}));
  Bytes padding = good;
  padding[17] = std::byte{0x80};  // residual 127, of a page of eight

  const Bytes bad[] = {
      with(descriptor(1, 0, 0), 15),        // too short for its group
      with(descriptor(1, 0, 0), 17),        // too long
      Bytes(1),                             // no room for the descriptor
      Bytes{},                              // no page at all
      with(descriptor(1, 0, 1), 16),        // high_bytes without exceptions
      with(descriptor(1, 1, 3), 16 + 9),    // high_bytes of 8 in a narrow type
      with(descriptor(1, 127, 0), 16 + 2),  // fewer exceptions than said
      exception_at(8, 1),                   // behind the last tuple
      exception_at(128, 1),                 // behind the group
      exception_at(7, 0),                   // adds nothing
      exception_at(7, 0x80),                // beyond the type
      padding,                              // that is not zero
  };
  for (const Bytes& page : bad) {
    const auto error = decode_pages(page, size(page));
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, Errc::corrupt);
    EXPECT_EQ(error->byte, 0u);
    // As the second page of two, which has eight values too, the place moves with it.
    Bytes both = good;
    both.insert(both.end(), page.begin(), page.end());
    const auto second = decode_pages(both, {18, static_cast<int>(both.size())});
    ASSERT_TRUE(second);
    EXPECT_EQ(second->byte, 18u);
  }
}

TEST(ChunkDamage, OnlyOneStandardFrameOfTheRightLengthIsAFrame) {
  const Sample sample = make_sample("zstd", "u8", 4000, Pattern::repeated, model_of(Coder::zstd));
  const auto chunk = format::parse_chunk_block(sample.block, 0, sample.layout);
  ASSERT_TRUE(chunk);
  ASSERT_EQ(chunk->columns[0].model.section.coder, Coder::zstd);
  Bytes frame(sample.block.begin() + chunk->frame.payload_at(), sample.block.end());
  const auto decode_frame = [&](const Bytes& payload, std::uint64_t records) {
    Bytes models;
    format::append_column_model(
        models, sample.layout.columns[0], chunk->columns[0].model, payload.size(),
        {{static_cast<std::uint32_t>(payload.size())}, {0}, {}, {}, {}, {}});
    const Bytes block = forge([&](Bytes& out) { out = models; }, records, payload.size(), payload);
    Bytes out(records);
    return decode_block(block, 0, sample.layout, out, false);
  };
  EXPECT_FALSE(decode_frame(frame, 4000));
  EXPECT_TRUE(decode_frame(frame, 3999));
  EXPECT_TRUE(decode_frame(frame, 4001));
  Bytes twice = frame;
  append(twice, {0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0});  // a skippable frame behind it
  EXPECT_TRUE(decode_frame(twice, 4000));
  EXPECT_TRUE(decode_frame(Bytes(frame.begin(), frame.end() - 1), 4000));
}

}  // namespace
}  // namespace gdelta::test
