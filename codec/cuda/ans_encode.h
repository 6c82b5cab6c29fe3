// The memory and the launches of encoding columns with ans.
#pragma once

#include <algorithm>
#include <cstdint>

#include "codec/cuda/scratch_layout.h"
#include "kernels/ans/ans_encode_cuda.h"

namespace gdelta::cuda {

/// What sizes the arrays of a call: columns whose words are of one type.
struct AnsEncodeSizes {
  std::uint32_t tasks = 0;
  std::uint32_t most_pages = 0;  // of a task
  int value_bytes = 0;
  int tuple = 0;
  bool has_strides = false;
  std::uint32_t state_room = 0;  // bytes of a page's states, at most
  std::uint64_t pages = 0;
  std::uint64_t units = 0;
  std::uint64_t values = 0;
};

/// Arrays that kernels leave to each other. Tasks, and where sections go, are the caller's.
template <class Word>
AnsEncodeArgs<Word> take_ans_scratch(ScratchLayout& layout, const AnsEncodeSizes& sizes,
                                     const AnsEffort& effort, const PackArgs& pack) {
  AnsEncodeArgs<Word> args{};
  args.tasks = pack.tasks;
  args.num_tasks = sizes.tasks;
  args.most_pages = sizes.most_pages;
  args.num_units = sizes.units;
  args.unit_starts = pack.unit_starts;
  args.state_room = sizes.state_room;
  args.fit_blocks = std::min(sizes.tasks, kMostFitBlocks);
  args.fit_columns = std::min(sizes.tasks, kMostFitColumns);
  args.effort = effort;
  args.differs = pack.differs;
  args.page_ends = pack.page_ends;
  args.part_checks = pack.part_checks;
  args.results = pack.results;
  args.out = pack.out;
  args.value_bytes = static_cast<std::uint8_t>(sizes.value_bytes);
  args.tuple = static_cast<std::uint8_t>(sizes.tuple);
  args.has_strides = sizes.has_strides;
  if (!args.makes_residuals()) {
    args.residuals = layout.take<Word>(sizes.values);
    args.page_states = layout.take<unsigned char>(sizes.pages * sizes.state_room);
  }
  args.samples = layout.take<AnsFitSample<Word>>(args.fit_blocks);
  args.cells = layout.take<AnsFitCells<Word>>(args.fit_columns);
  args.cuts = layout.take<AnsCutTables<Word>>(sizes.tasks);
  args.counts = layout.take<AnsBinCounts<Word>>(sizes.tasks);
  args.tables = layout.take<AnsEncodeTables<Word>>(sizes.tasks);
  args.bins = layout.take<std::uint8_t>(sizes.values);
  args.selectors = layout.take<std::uint8_t>(sizes.values);
  args.words = layout.take<std::uint16_t>(sizes.values);
  args.pages = layout.take<AnsPageState>(sizes.pages);
  return args;
}

/// All that comes before sections are placed.
template <class Word>
cudaError_t launch_size_ans(const AnsEncodeArgs<Word>& args, cudaStream_t stream) {
  if (!args.makes_residuals())
    if (auto error = launch_ans_residuals(args, stream)) return error;
  if (auto error = launch_fit_ans(args, stream)) return error;
  if (auto error = launch_classify_ans(args, stream)) return error;
  if (auto error = launch_finish_ans(args, stream)) return error;
  return launch_ans_symbols(args, stream);
}

}  // namespace gdelta::cuda
