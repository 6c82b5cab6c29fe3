// Encodes columns with the ans coder, tables included, into the bytes that the host makes at the same
// effort. Spec: coders/ans.md.
//
// A block fits clusters and bins to a sample of a column's residuals, as kernels/ans/ans_fit.h
// does it; a warp a page names table and bin of every residual and counts them; from the counts a block makes
// the tables; a warp a page encodes symbols, which tells its size, and in the end writes the page to its
// place.
//
// All memory is the caller's; nothing synchronises; launch errors are returned; kernels cannot fail. Arrays
// are in device memory, and zero where it says so. Columns of one call have words of one type: 64 bits for
// values of eight bytes, else 32.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/ans/ans_effort.h"
#include "kernels/ans/ans_layout.h"
#include "kernels/ans/ans_warp_symbol.h"
#include "kernels/bitpack/pack_pages_cuda.h"

namespace gdelta::cuda {

// What kernels have room for: the efforts of the lower levels.
inline constexpr int kMostFitTables = 4;
inline constexpr std::uint64_t kMostFitStretches = 64;
inline constexpr std::uint64_t kMostTableSample = 2048;
inline constexpr std::uint32_t kMostFitCells = 128;

constexpr bool fits_on_device(const AnsEffort& effort) {
  constexpr std::uint32_t kWarp = 32;  // a cell has no more values, unless they are equal
  return effort.for_warps && effort.most_tables <= kMostFitTables &&
         effort.most_to_single < kMostFitTables && effort.cells > kMostTableSample / kWarp &&
         effort.sampled_stretches <= kMostFitStretches && effort.table_sample == kMostTableSample &&
         effort.cells <= kMostFitCells && !effort.counts_several;
}

/// Bins of all tables by name: table × kMaxTableBins + bin.
inline constexpr int kAnsNames = kMostFitTables * kMaxTableBins;
/// In the names of bins that the sample did not have, and in no other.
inline constexpr std::uint8_t kUnknownName = kMaxTableBins / 2;
inline constexpr int kCoarseClasses = 512;  ///< that clusters are told by

/// What classification needs: costs in 1/64 bits of each class in each cluster; the last residual of each bin and
/// its name, table after table from the lowest bin on. Behind a table's last bin residuals are the highest number.
template <class Word>
struct AnsCutTables {
  alignas(16) std::uint16_t costs[kCoarseClasses][kMostFitTables];
  Word lasts[kAnsNames];               // as signed numbers
  std::uint8_t names[kAnsNames];       // within the table
  std::uint16_t bins[kMostFitTables];  // of each table
  int tables;
  int span_bits;
};

/// What has been found in the bins, by name.
template <class Word>
struct AnsBinCounts {
  std::uint32_t counts[kAnsNames];
  Word first[kAnsNames];  // signed; of bins that the sample did not have
  Word last[kAnsNames];
};

/// What a table of 1024 bins takes in a head, in varints of up to 2 and 10 bytes.
inline constexpr std::uint32_t kMostAnsFieldBytes = 3 + 2 * kMostFitTables + 13 * kMaxAnsBins + 5;

/// What encoding needs, by name.
template <class Word>
struct AnsEncodeTables {
  AnsWarpSymbol symbols[kAnsNames];
  Word lowers[kAnsNames];
  std::uint8_t offset_bits[kAnsNames];
  std::uint8_t table_names[kMostFitTables];
  int slot_bits;
  int span_bits;
  int tables;  // in the head
  std::uint32_t field_bytes;
  unsigned char fields[kMostAnsFieldBytes];
};

/// What encoding symbols leaves for the writing of a page.
struct AnsPageState {
  std::uint32_t states[kMaxAnsStates];
  std::uint32_t words;
  std::uint32_t offset_bits;
};

/// Cells of the samples of a column's tables, which bins are made of. Several tables may have one more, of all residuals,
/// behind them: a single table in their place.
template <class Word>
struct AnsFitCells {
  // Heavy values and what lies between them. In the longest sample every sixteenth rank is a border and four equal values
  // are heavy: between borders three of these, and four others beside them, begin cells. Shorter ones have fewer.
  static constexpr int kMost = kMostTableSample * 7 / 16;
  struct Table {
    std::uint16_t begins[kMost + 1];    // in the sorted sample, and its end
    Word firsts[kMost], lasts[kMost];   // of each, its highest bit turned
    std::uint32_t cells, values, size;  // values of the sample; residuals that it stands for
  };
  Table tables[kMostFitTables];
  int num_tables, span_bits;
  std::uint32_t selectors, residuals;  // in all stretches
};

/// Residuals of a column's stretches, sign-extended.
template <class Word>
struct AnsFitSample {
  Word residuals[kMaxAnsTile * static_cast<int>(kMostFitStretches)];
};

/// An H200 has room for so many at once, four a processor.
inline constexpr std::uint32_t kMostFitBlocks = 528;
/// Columns whose cells there is memory for.
inline constexpr std::uint32_t kMostFitColumns = 2 * kMostFitBlocks;

template <class Word>
struct AnsEncodeArgs {
  PackTask* tasks;
  std::uint32_t num_tasks;
  std::uint32_t most_pages;    // of a task
  std::uint64_t num_units;     // bounds a grid
  std::uint64_t* unit_starts;  // [num_tasks + 1]
  std::uint32_t state_room;    // bytes: page_states of a page
  std::uint32_t fit_blocks;    // that take samples side by side
  std::uint32_t fit_columns;   // that have cells side by side
  std::uint8_t value_bytes;    // of every task
  std::uint8_t tuple;
  bool has_strides;  // some tasks may
  AnsEffort effort;

  // Of wide tuples: residuals of all tasks, sign-extended, page after page and lane after lane; and [num_pages ×
  // state_room].
  Word* residuals;
  unsigned char* page_states;
  std::uint32_t* differs;         // [num_tasks], zero before
  AnsFitSample<Word>* samples;    // [fit_blocks]
  AnsFitCells<Word>* cells;       // [fit_columns]
  AnsCutTables<Word>* cuts;       // [num_tasks]
  AnsBinCounts<Word>* counts;     // [num_tasks]
  AnsEncodeTables<Word>* tables;  // [num_tasks]
  std::uint8_t* bins;             // [values of all tasks]
  std::uint8_t* selectors;        // [values of all tasks]; a page's begin where its values do
  std::uint16_t* words;           // [values of all tasks]; a page's end where its values do
  AnsPageState* pages;            // [num_pages]
  std::uint32_t* page_ends;       // [num_pages]: counted from the start of the section
  std::uint32_t* part_checks;     // [num_pages]
  PackResult* results;            // [num_tasks]
  unsigned char* out;

  /// Whether residuals are made of values whenever they are looked at, not found in memory.
  bool makes_residuals() const { return !is_wide(tuple); }
};

/// Residuals and states of every page, if other kernels do not make them; sets differs if two tuples do.
template <class Word>
cudaError_t launch_ans_residuals(const AnsEncodeArgs<Word>& args, cudaStream_t stream);

/// Clusters and bins from samples.
template <class Word>
cudaError_t launch_fit_ans(const AnsEncodeArgs<Word>& args, cudaStream_t stream);

/// Names of tables and bins, and their counts. If residuals are made here, part_checks, too, and differs.
template <class Word>
cudaError_t launch_classify_ans(const AnsEncodeArgs<Word>& args, cudaStream_t stream);

/// Tables, and the fields of the models, from counts.
template <class Word>
cudaError_t launch_finish_ans(const AnsEncodeArgs<Word>& args, cudaStream_t stream);

/// Symbols of every page; then page_ends, kind and section_bytes of every result, and the checks of
/// constants.
template <class Word>
cudaError_t launch_ans_symbols(const AnsEncodeArgs<Word>& args, cudaStream_t stream);

/// Writes every section of kind ans to out + section_at.
template <class Word>
cudaError_t launch_write_ans(const AnsEncodeArgs<Word>& args, cudaStream_t stream);

}  // namespace gdelta::cuda
