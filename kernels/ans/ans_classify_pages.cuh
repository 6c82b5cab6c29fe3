// Which table each span of residuals has, and in which of its bins each residual is; and how many are in each
// bin. A warp takes a page, a thread eight consecutive residuals of a lane's tile. Of values that are looked at, the
// checks of pages are made in passing.
//
// A residual's class, of many to an octave, says what it costs in each cluster, and in which bin of a table the
// class begins; few classes have residuals of two bins or more.
#pragma once

#include "kernels/ans/ans_page_runs.cuh"
#include "kernels/checksum/page_check.cuh"
#include "kernels/device/shared_limit.h"
#include "kernels/device/warp_min.cuh"

namespace gdelta::cuda {

/// By sign and size, 2^kBits to an octave: all that coarse_class tells apart are apart, and more. Numbered from the
/// lowest residual up.
template <class Word>
struct SearchClasses {
  static constexpr int kBits = sizeof(Word) == 8 ? 3 : 4;
  static constexpr int kHalf = static_cast<int>(8 * sizeof(Word)) << kBits;
  static constexpr int kCount = 2 * kHalf;

  /// Twice the size and one more has a highest bit, whose place and followers tell the class.
  __device__ static int of(Word residual) {
    using Signed = std::make_signed_t<Word>;
    constexpr int kWordBits = 8 * sizeof(Word);
    const auto sign = static_cast<Word>(static_cast<Signed>(residual) >> (kWordBits - 1));
    const Word odd = static_cast<Word>(static_cast<Word>(residual << 1) ^ sign) | 1;
    const int zeros = leading_zeros(odd);
    const int number =
        static_cast<int>(static_cast<Word>(odd << zeros) >> (kWordBits - 1 - kBits)) -
        (zeros << kBits) + kHalf - (2 << kBits);
    return (number ^ static_cast<int>(sign)) + kHalf;
  }
  /// The size from which on a class has residuals, if it has any.
  __device__ static Word size_from(int number) {
    const int place = number >> kBits;
    const Word odd = static_cast<Word>((Word{1} << kBits) | (number & ((1 << kBits) - 1)));
    return (place >= kBits ? odd << (place - kBits) : odd >> (kBits - place)) >> 1;
  }

 private:
  __device__ static int leading_zeros(std::uint32_t word) { return __clz(static_cast<int>(word)); }
  __device__ static int leading_zeros(std::uint64_t word) {
    return __clzll(static_cast<long long>(word));
  }
};

template <class Runs>
class PageClassifier {
 public:
  using Word = typename Runs::Word;
  static constexpr int kThreads = 32 * kAnsPageWarps;

  // Four coarse classes to an octave, as coarse_class tells them apart, have a row each.
  static constexpr int kRowBits =
      SearchClasses<Word>::kBits - 2;  // of a class, that its row leaves out
  static constexpr int kRows = SearchClasses<Word>::kCount >> kRowBits;

  static constexpr int kRow = kMaxTableBins + kMaxTableBins / 2;  // of a table's bins

  struct Shared {
    alignas(16) std::uint16_t costs[kRows][kMostFitTables];
    // The bin that a class begins in, of each table: how many ends are in the classes below.
    alignas(16) std::uint32_t first_bins[kMostFitTables][SearchClasses<Word>::kCount / 4];
    // Behind a table's last bin there is room for the longest step. What else is known of a bin lies at the same number.
    Word lasts[kMostFitTables][kRow];
    std::uint32_t counts[kMostFitTables][kRow];
    std::uint8_t offset_bits[kMostFitTables][kRow];
    int steps
        [kMostFitTables];  // the first, and longest, of the search in each table; 0: there is none
    typename Runs::Room rooms[kAnsPageWarps];
  };

  __device__ PageClassifier(const AnsEncodeArgs<Word>& args, Shared& shared)
      : args_(args), shared_(shared) {
    for (int i = threadIdx.x; i < kMostFitTables * kRow; i += kThreads) shared.counts[0][i] = 0;
  }

  /// The block calls it before it visits pages of a task, and waits behind it.
  __device__ void enter(std::uint32_t task) {
    const AnsCutTables<Word>& cuts = args_.cuts[task];
    for (int i = threadIdx.x; i < kRows; i += kThreads) spread_costs(cuts, i);
    for (int i = threadIdx.x; i < kMostFitTables * kRow; i += kThreads)
      shared_.lasts[i / kRow][i % kRow] = i % kRow < kMaxTableBins
                                              ? cuts.lasts[i / kRow * kMaxTableBins + i % kRow]
                                              : static_cast<Word>(~Word{0} >> 1);
    for (int i = threadIdx.x; i < kAnsNames; i += kThreads)
      shared_.offset_bits[i / kMaxTableBins][i % kMaxTableBins] = cuts.offset_bits[i];
    const int table = device::warp_number();
    for (int i = threadIdx.x & 31; i < SearchClasses<Word>::kCount / 4; i += 32)
      shared_.first_bins[table][i] = 0;
    __syncthreads();  // no class has ends yet
    if (table < cuts.tables) find_first_bins(cuts, table);
  }

  __device__ void visit(std::uint32_t task_number, std::uint32_t page_number) {
    const PackTask& task = args_.tasks[task_number];
    const AnsCutTables<Word>& cuts = args_.cuts[task_number];
    const AnsPageView page(task, page_number);
    const AnsPageShape shape = ans_page_shape(page.tuples, task.tuple, cuts.span_bits, cuts.tables);
    const int thread = static_cast<int>(threadIdx.x & 31);
    span_shift_ = shape.span_bits - kRunBits;
    tables_ = cuts.tables;
    task_ = task_number;
    Runs runs(args_, task, page, shape, shared_.rooms[threadIdx.x / 32]);
    const auto visit_run = [&](const auto& place, const Word(&residuals)[kAnsRun]) {
      std::uint8_t* const selectors =
          args_.selectors + page.at + (place.tile * shape.tuple + place.lane) * shape.spans;
      const int table = classify(place, residuals);
      if (thread < shape.states && (thread & ((1 << span_shift_) - 1)) == 0)
        selectors[thread >> span_shift_] = static_cast<std::uint8_t>(place.count > 0 ? table : 0);
    };
    if constexpr (Runs::kFromValues) {
      visit_values(task, page, shape, runs, visit_run);
    } else {
      runs.for_each([](const auto&, std::uint32_t) {}, visit_run);
    }
  }

  /// The block calls it when it has visited its pages of a task.
  __device__ void leave(std::uint32_t task) {
    for (int name = threadIdx.x; name < kAnsNames; name += kThreads) {
      std::uint32_t& count = shared_.counts[name / kMaxTableBins][name % kMaxTableBins];
      if (count == 0) continue;
      atomicAdd(&args_.counts[task].counts[name], count);
      count = 0;
    }
  }

 private:
  static constexpr int kClusters = kMostFitTables;
  static constexpr int kRunBits = 3;
  static_assert(kAnsRun == 1 << kRunBits && kMinSpanBits >= kRunBits);
  static constexpr std::uint32_t kWordMask = ~static_cast<std::uint32_t>(sizeof(Word) - 1);
  static constexpr unsigned kUnknownBit = 0x80;  // of offset bits: the sample did not have the bin

  /// Costs of every second of a thread's residuals in each cluster, two and two in a word: 32 residuals add up in 16 bits.
  struct PairedCosts {
    std::uint32_t pairs[kClusters / 2] = {};

    __device__ void add(uint4 row) {
      pairs[0] += row.x, pairs[1] += row.y, pairs[2] += row.z, pairs[3] += row.w;
    }
    __device__ void add_neighbour(int distance) {
#pragma unroll
      for (std::uint32_t& pair : pairs) pair += __shfl_xor_sync(device::kWholeWarp, pair, distance);
    }
  };

  /// A row of costs; clusters that do not exist are dearest.
  __device__ void spread_costs(const AnsCutTables<Word>& cuts, int number) {
    constexpr int kHalf = kRows / 2;
    const bool negative = number < kHalf;
    const Word size = SearchClasses<Word>::size_from(
        (negative ? kHalf - 1 - number : number - kHalf) << kRowBits);
    const std::uint16_t* const row = cuts.costs[coarse_class(negative ? ~size : size)];
#pragma unroll
    for (int c = 0; c < kClusters; ++c)
      shared_.costs[number][c] = c < cuts.tables ? row[c] : kDearest;
  }
  static constexpr std::uint16_t kDearest = (32u << 6) - 1;  // what a residual costs at most

  /// Counts the ends of bins in each class, then those in the classes below; a warp a table.
  __device__ void find_first_bins(const AnsCutTables<Word>& cuts, int table) {
    const int thread = static_cast<int>(threadIdx.x & 31);
    std::uint32_t* const bins = shared_.first_bins[table];
    std::uint32_t most = 0;
    for (int end = thread; end + 1 < cuts.bins[table]; end += 32) {
      const int number = SearchClasses<Word>::of(shared_.lasts[table][end]);
      const int shift = 8 * (number & 3);
      const std::uint32_t others = atomicAdd(&bins[number / 4], 1u << shift) >> shift & 0xff;
      most = max(most, others + 1);
    }
    most = ~device::warp_min(~most);
    if (thread == 0)
      shared_.steps[table] =
          most == 0 ? 0 : static_cast<std::uint32_t>(sizeof(Word)) << device::highest_bit(most);
    __syncwarp();  // all ends are counted
    std::uint32_t below = 0;
    for (int i = thread; i < SearchClasses<Word>::kCount / 4; i += 32) {
      const std::uint32_t own = bins[i];
      std::uint32_t ends = own + (own << 8);  // up to each byte's class
      ends += ends << 16;
      const std::uint32_t end = below + device::warp_prefix(ends >> 24);
      bins[i] = ends - own + (end - (ends >> 24)) * 0x01010101u;
      below = __shfl_sync(device::kWholeWarp, end, 31);
    }
  }

  /// The cluster that suits a span best, of equals the first.
  __device__ int cheapest_cluster(PairedCosts costs) const {
    constexpr int kPairedThreads = 32 / (kAnsRun / kChoiceStep);
#pragma unroll
    for (int distance = 1; distance < kPairedThreads; distance *= 2)
      if (distance >> span_shift_ == 0) costs.add_neighbour(distance);
    std::uint32_t sums[kClusters];
#pragma unroll
    for (int c = 0; c < kClusters; ++c) sums[c] = costs.pairs[c / 2] >> (16 * (c & 1)) & 0xffff;
#pragma unroll 1
    for (int distance = kPairedThreads; distance >> span_shift_ == 0; distance *= 2) {
#pragma unroll
      for (std::uint32_t& sum : sums) sum += __shfl_xor_sync(device::kWholeWarp, sum, distance);
    }
    std::uint32_t least = ~0u;
#pragma unroll
    for (int c = 0; c < kClusters; ++c) least = min(least, sums[c] * kClusters + c);
    return static_cast<int>(least % kClusters);
  }

  /// Finds the table and the bins of a run, and counts them; the table.
  template <class Place>
  __device__ int classify(const Place& place, const Word (&residuals)[kAnsRun]) {
    using Signed = std::make_signed_t<Word>;
    int classes[kAnsRun];
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i) classes[i] = SearchClasses<Word>::of(residuals[i]);
    int table = 0;
    if (tables_ > 1) {
      PairedCosts costs;
#pragma unroll
      for (int i = 0; i < kAnsRun; i += kChoiceStep)
        if (place.has(i))
          costs.add(*reinterpret_cast<const uint4*>(shared_.costs[classes[i] >> kRowBits]));
      table = cheapest_cluster(costs);
    }
    const auto* const first_bins = reinterpret_cast<const std::uint8_t*>(shared_.first_bins[table]);
    // As bytes behind the first end of all, because pointers would take 64 bits.
    const auto* const lasts = reinterpret_cast<const unsigned char*>(shared_.lasts);
    const auto row = static_cast<std::uint32_t>(table * kRow * sizeof(Word));
    std::uint32_t ends[kAnsRun];  // of the bin, as far as is known
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i)
      ends[i] = row + first_bins[classes[i]] * static_cast<std::uint32_t>(sizeof(Word));
    // The warp goes by the longest step of its tables: behind a table's last bin there is room.
    std::uint32_t step = ~device::warp_min(~shared_.steps[table]);
#pragma unroll 1
    for (; step > 0; step = step / 2 & kWordMask) {
#pragma unroll
      for (int i = 0; i < kAnsRun; ++i) {
        const std::uint32_t next = ends[i] + step;
        const Word last = *reinterpret_cast<const Word*>(lasts + next - sizeof(Word));
        if (static_cast<Signed>(residuals[i]) > static_cast<Signed>(last)) ends[i] = next;
      }
    }
    std::uint32_t packed[2];
#pragma unroll
    for (int i = 0; i < kAnsRun; i += 4)
      packed[i / 4] = __byte_perm(pair_of(ends[i] - row, ends[i + 1] - row),
                                  pair_of(ends[i + 2] - row, ends[i + 3] - row), 0x6420);
    store_byte_run(args_.bins + place.at, place.count,
                   packed[0] | static_cast<std::uint64_t>(packed[1]) << 32);
    unsigned unknown = 0;
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i) {
      if (!place.has(i)) continue;
      const std::uint32_t number = ends[i] / sizeof(Word);
      atomicAdd(&shared_.counts[0][number], 1u);
      unknown |= shared_.offset_bits[0][number];
    }
    if ((unknown & kUnknownBit) != 0) note_reaches(place, table, ends, residuals);
    return table;
  }

  /// The bins of two residuals, by their ends behind that of the first bin, in 16 bits each.
  __device__ static std::uint32_t pair_of(std::uint32_t low, std::uint32_t high) {
    return low / sizeof(Word) | high / sizeof(Word) << 16;
  }

  template <class Place>
  __device__ void note_reaches(const Place& place, int table, const std::uint32_t (&ends)[kAnsRun],
                               const Word (&residuals)[kAnsRun]) {
    using Atomic = std::conditional_t<sizeof(Word) == 8, long long, int>;
    AnsBinCounts<Word>& counts = args_.counts[task_];
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i) {
      const std::uint32_t number = ends[i] / sizeof(Word);
      if (!place.has(i) || (shared_.offset_bits[0][number] & kUnknownBit) == 0) continue;
      const auto name = number - table * (kRow - kMaxTableBins);
      atomicMin(reinterpret_cast<Atomic*>(&counts.first[name]), static_cast<Atomic>(residuals[i]));
      atomicMax(reinterpret_cast<Atomic*>(&counts.last[name]), static_cast<Atomic>(residuals[i]));
    }
  }

  /// The check of a page, and whether its tuples differ from the column's first, too.
  template <class VisitRun>
  __device__ void visit_values(const PackTask& task, const AnsPageView& page,
                               const AnsPageShape& shape, Runs& runs, const VisitRun& visit_run) {
    using Shape = typename Runs::Shape;
    const int thread = static_cast<int>(threadIdx.x & 31);
    constexpr int kTileBits = 7;  // of the number of a page's tiles
    PageCheck<Shape::kRunWords> check;
    Word origins[Shape::kTuple], unequal = 0;
    bool has_order[Shape::kTuple];
#pragma unroll
    for (int lane = 0; lane < Shape::kTuple; ++lane) {
      has_order[lane] = task.orders[lane] > 0;
      // Of equal tuples all differences are zero, from the first one on.
      origins[lane] = has_order[lane]
                          ? 0
                          : sign_extended(read_value<Shape>(task, 0, lane), 8 * Shape::kValueBytes);
    }
    const FirstTuple<Shape> first_tuple(task);
    const auto add = [&](const std::uint32_t(&words)[Shape::kRunWords], std::uint32_t left) {
      add_run<Shape>(check, words, left, thread);
      if constexpr (Shape::kStrides) unequal |= first_tuple.unequal(words, left, thread);
    };
    const bool is_short = shape.states < kMaxAnsStates;  // and has tiles of its own
    runs.for_each(
        [&](const std::uint32_t(&words)[Shape::kRunWords], std::uint32_t left) {
          if (!is_short) add(words, left);
        },
        [&](const auto& place, const Word(&residuals)[kAnsRun]) {
          visit_run(place, residuals);
          if constexpr (!Shape::kStrides) {
#pragma unroll
            for (int i = 0; i < kAnsRun; ++i)
              if (place.has(i)) unequal |= residuals[i] ^ origins[place.lane];
          }
        });
    auto tiles = static_cast<std::uint32_t>(shape.tiles);
    if (is_short)
      tiles = for_each_tile<Shape>(
          task, page.first, page.tuples, thread,
          [&](std::uint32_t, std::uint32_t left, const std::uint32_t(&words)[Shape::kRunWords]) {
            add(words, left);
          });
    const std::uint32_t value = check.template value<kTileBits>(tiles, page.tuples, thread);
    if (thread == 0) args_.part_checks[page.number] = value;
    if (__any_sync(device::kWholeWarp, unequal != 0) && thread == 0) args_.differs[task_] = 1;
  }

  const AnsEncodeArgs<Word>& args_;
  Shared& shared_;
  int span_shift_ = 0;  // base-2 logarithm of the threads that a span has
  int tables_ = 0;
  std::uint32_t task_ = 0;
};

template <class Runs>
__global__ void __launch_bounds__(PageClassifier<Runs>::kThreads, Runs::kBlocks)
    classify_ans_kernel(AnsEncodeArgs<typename Runs::Word> args) {
  using Classifier = PageClassifier<Runs>;
  auto& shared = *reinterpret_cast<typename Classifier::Shared*>(device::dynamic_shared());
  Classifier classifier(args, shared);
  device::wait_for_predecessor();
  for_each_bundle(
      args, [&](std::uint32_t task) { classifier.enter(task); },
      [&](std::uint32_t task, std::uint32_t page) { classifier.visit(task, page); },
      [&](std::uint32_t task) { classifier.leave(task); });
}

template <class Runs>
cudaError_t launch_classify(const AnsEncodeArgs<typename Runs::Word>& args, cudaStream_t stream) {
  using Classifier = PageClassifier<Runs>;
  if (auto error = device::raise_shared_limit(classify_ans_kernel<Runs>)) return error;
  return device::launch_after_with<classify_ans_kernel<Runs>>(
      bundle_grid(args), Classifier::kThreads, sizeof(typename Classifier::Shared), stream, args);
}

}  // namespace gdelta::cuda
