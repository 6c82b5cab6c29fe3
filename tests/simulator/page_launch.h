// A launch of the page decoder on the simulated device, and what it shall leave behind. Sections and
// directories lie between pages that cannot be read.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/bitpack/unpack_pages_cuda.h"
#include "simulator/guarded_bytes.h"
#include "simulator/packed_pages.h"

namespace gdelta::test {

inline constexpr unsigned char kUntouched = 0xa5;
inline constexpr std::size_t kMargin = 80;  // bytes before and behind the output
inline constexpr unsigned long long kWhole = ~0ull;
inline constexpr std::uint64_t kEveryBlock = 1000;

/// What a launch shall leave behind.
struct Expected {
  PageBuffer out;                           // with its margins
  std::vector<bool> unspecified;            // bytes of `out`
  std::vector<unsigned long long> damaged;  // by chunk
};

inline std::uint64_t section_at(std::size_t chunk) { return 1'000'000 * (chunk + 1); }

inline Expected untouched(const PackedCase& packed, std::size_t misaligned) {
  std::size_t bytes = 2 * kMargin + misaligned;
  for (const PageBuffer& values : packed.values) bytes += values.size();
  return {PageBuffer(bytes, kUntouched), std::vector<bool>(bytes),
          std::vector<unsigned long long>(packed.columns.size(), kWhole)};
}

/// The arguments of a launch over the column of all chunks, and the memory that they point to.
/// Tasks that are not the launch's lie around its own; some of its own have no pages.
class PageLaunch {
 public:
  PageLaunch(const PackedCase& packed, std::size_t misaligned)
      : out_(untouched(packed, misaligned).out), damaged_(packed.columns.size(), kWhole) {
    constexpr std::uint64_t kForeignPages = 3;
    tasks_.push_back({});
    starts_ = {0, kForeignPages};
    unsigned char* out = out_.data() + kMargin + misaligned;
    for (std::size_t chunk = 0; chunk < packed.columns.size(); ++chunk) {
      const PackedColumn& column = packed.columns[chunk];
      for (std::size_t i = 0; i < 3 * (chunk % 3); ++i) add_task({});
      cuda::ColumnTask task{};
      const bool at_end = chunk % 2 == 0;
      // Behind a section that lies at the end not a byte can be read.
      task.section =
          keep(column.section, (at_end ? 0 - column.section.size() : 5 * chunk + 3) % 16, at_end);
      PageBuffer directory;
      for (const std::uint32_t end : column.page_ends) {
        for (int i = 0; i < 4; ++i) directory.push_back(static_cast<unsigned char>(end >> (8 * i)));
      }
      task.directory = keep(directory, (3 * chunk + 1) % 16, at_end);
      const auto* orders = column.model.front.orders;
      const int tuple = column.column.tuple;
      if (std::any_of(orders, orders + tuple, [&](auto order) { return order != orders[0]; }))
        task.orders = keep(PageBuffer(orders, orders + tuple), 0, at_end);
      task.out = out + column.offset;
      task.section_at = section_at(chunk);
      task.records = static_cast<std::uint32_t>(column.records);
      task.record_bytes = static_cast<std::uint32_t>(column.record_bytes);
      task.page_groups = column.model.section.part_groups;
      task.num_pages = static_cast<std::uint32_t>(column.page_ends.size());
      task.state_bytes = format::page_state_bytes(column.model.front, column.column);
      task.chunk = static_cast<std::uint32_t>(chunk);
      task.value_bytes = static_cast<std::uint8_t>(value_bytes(column.column.type));
      task.tuple = column.column.tuple;
      task.order = orders[0];
      task.map = static_cast<std::uint8_t>(column.model.front.map);
      task.big_endian = column.column.big_endian;
      task.coder = cuda::kPackPages;
      task.path = cuda::ColumnPath::page_warp;
      add_task(task);
      out += packed.values[chunk].size();
    }
    end_task_ = static_cast<std::uint32_t>(tasks_.size());
    tasks_.push_back({});
    starts_.push_back(starts_.back() + kForeignPages);
  }

  ::testing::AssertionResult leaves(const Expected& expected, std::uint64_t max_pages,
                                    bool by_block = false) {
    std::fill(out_.begin(), out_.end(), kUntouched);
    std::fill(damaged_.begin(), damaged_.end(), kWhole);
    unsigned long long tickets = 0;
    const cuda::UnpackArgs args{.tasks = tasks_.data(),
                                .starts = starts_.data(),
                                .damaged_at = damaged_.data(),
                                .first_task = 1,
                                .end_task = end_task_,
                                .tickets = &tickets,
                                .differs_at = nullptr};
    const int value_bytes = tasks_[1].value_bytes;
    const cudaError_t error = by_block
                                  ? cuda::launch_pack_pages_block({value_bytes, tasks_[1].tuple},
                                                                  args, max_pages, nullptr)
                                  : cuda::launch_unpack_pages_warp(value_bytes, tasks_[1].tuple,
                                                                   args, max_pages, nullptr);
    if (error != cudaSuccess) return ::testing::AssertionFailure() << "error " << int(error);
    for (std::size_t i = 0; i < damaged_.size(); ++i) {
      if (damaged_[i] != expected.damaged[i])
        return ::testing::AssertionFailure() << "chunk " << i << " is damaged at " << damaged_[i]
                                             << ", expected " << expected.damaged[i];
    }
    for (std::size_t i = 0; i < out_.size(); ++i) {
      if (out_[i] != expected.out[i] && !expected.unspecified[i])
        return ::testing::AssertionFailure()
               << "byte " << static_cast<std::ptrdiff_t>(i - kMargin) << " of the output differs";
    }
    if (tickets != 0) return ::testing::AssertionFailure() << tickets << " tickets are left";
    return ::testing::AssertionSuccess();
  }

 private:
  void add_task(const cuda::ColumnTask& task) {
    tasks_.push_back(task);
    starts_.push_back(starts_.back() + task.num_pages);
  }
  const unsigned char* keep(const PageBuffer& bytes, std::size_t skew, bool at_end) {
    return kept_.emplace_back(bytes, skew, at_end).data();
  }

  PageBuffer out_;
  std::vector<unsigned long long> damaged_;
  std::vector<simulator::GuardedBytes> kept_;
  std::vector<cuda::ColumnTask> tasks_;
  std::vector<std::uint64_t> starts_;
  std::uint32_t end_task_ = 0;
};

}  // namespace gdelta::test
