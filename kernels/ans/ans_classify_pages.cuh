// Which table each span of residuals has, and in which of its bins each residual is; and how many are in each
// bin. A warp takes a page, a thread eight consecutive residuals of a lane's tile. Of values that are looked at, the
// checks of pages are made in passing.
//
// Of a residual near zero a table says its bin, and where what it costs in each cluster stands. Of others a class says that, of
// many to an octave, and the bin of a table that the class begins in; few classes have residuals of two bins or more.
#pragma once

#include "kernels/ans/ans_page_runs.cuh"
#include "kernels/checksum/page_check.cuh"
#include "kernels/device/shared_limit.h"
#include "kernels/device/warp_min.cuh"

namespace gdelta::cuda {

/// By sign and size, 2^kBits to an octave: all that coarse_class tells apart are apart, and more. Those of one sign follow
/// each other from the smallest on, the negative ones behind the others.
template <class Word>
struct SearchClasses {
  static constexpr int kBits = sizeof(Word) == 8 ? 3 : 4;
  static constexpr int kHalf = static_cast<int>(8 * sizeof(Word)) << kBits;
  static constexpr int kCount = 2 * kHalf;

  __device__ static int of(Word residual) {
    using Signed = std::make_signed_t<Word>;
    const auto sign = static_cast<Word>(static_cast<Signed>(residual) >> (8 * sizeof(Word) - 1));
    int number = 0;
    if constexpr (sizeof(Word) == 4) {
      // Half more than the size has a highest bit, whose place and followers tell the class: those of a float.
      constexpr int kMantissaBits = 23, kOfHalf = 126 << kBits;
      const float more = __fadd_rz(__int2float_rz(static_cast<int>(residual ^ sign)), 0.5f);
      number = static_cast<int>(__float_as_uint(more) >> (kMantissaBits - kBits)) - kOfHalf;
    } else {
      const Word odd = static_cast<Word>(residual << 1 ^ sign) | 1;  // twice as much
      const int zeros = __clzll(static_cast<long long>(odd));
      number = static_cast<int>((odd << zeros) >> (8 * sizeof(Word) - 1 - kBits)) -
               (zeros << kBits) + kHalf - (2 << kBits);
    }
    return number + (static_cast<int>(sign) & kHalf);
  }
  __device__ static bool is_negative(int number) { return number >= kHalf; }
  /// The size from which on a class has residuals, if it has any.
  __device__ static Word size_from(int number) {
    const int place = (number & (kHalf - 1)) >> kBits;
    const Word odd = static_cast<Word>((Word{1} << kBits) | (number & ((1 << kBits) - 1)));
    return (place >= kBits ? odd << (place - kBits) : odd >> (kBits - place)) >> 1;
  }
};

template <class Runs>
class PageClassifier {
 public:
  using Word = typename Runs::Word;
  using Classes = SearchClasses<Word>;
  static constexpr int kThreads = 32 * kAnsPageWarps;

  // Four coarse classes to an octave, as coarse_class tells them apart, have a row each.
  static constexpr int kRowBits = Classes::kBits - 2;  // of a class, that its row leaves out
  static constexpr int kRows = Classes::kCount >> kRowBits;

  static constexpr int kPlaces =
      kMaxTableBins + kMaxTableBins / 2;  // of a table, and room for steps

  // Residuals from -kNear to kNear - 1 are looked up, not looked for. Those of bytes are all near.
  static constexpr bool kAllNear = Runs::kValueBytes == 1;
  static constexpr std::uint32_t kNear = kAllNear ? 128 : 2048;
  static constexpr std::uint32_t kFar = 2 * kNear;  // the number of all others

  struct Shared {
    alignas(16) std::uint16_t costs[kRows][kMostFitTables];
    // Of each table, the names of the bins of near residuals, from the lowest residual on; and of each of these where its
    // row of costs is, in bytes.
    alignas(16) std::uint8_t near_names[kMostFitTables][kFar + 16];
    std::uint16_t near_rows[kFar + 2];
    // Of each table, for each class: the place, from the lowest on, of the bin that it begins in, below kMaxTableBins, and
    // whether bins end within it.
    alignas(16) std::uint16_t starts[kMostFitTables][Classes::kCount];
    // Of each place. Behind a table's last bin there is room for the longest step.
    Word lasts[kMostFitTables][kPlaces];
    std::uint8_t names[kMostFitTables][kMaxTableBins];
    std::uint32_t counts[kMostFitTables][kMaxTableBins];  // of each name
    // The first, and longest, of the search in each table; 0: no bin ends within a class.
    std::uint32_t steps[kMostFitTables];
    typename Runs::Room rooms[kAnsPageWarps];
  };

  __device__ PageClassifier(const AnsEncodeArgs<Word>& args, Shared& shared)
      : args_(args), shared_(shared) {
    for (int i = threadIdx.x; i < kAnsNames; i += kThreads) shared.counts[0][i] = 0;
    for (std::uint32_t i = threadIdx.x; i < kFar; i += kThreads)
      shared.near_rows[i] = row_at(Classes::of(static_cast<Word>(i) - kNear));
    if (threadIdx.x == 0) shared.near_rows[kFar] = 0;
  }

  /// The block calls it before it visits pages of a task, and waits behind it.
  __device__ void enter(std::uint32_t task) {
    const AnsCutTables<Word>& cuts = args_.cuts[task];
    for (int i = threadIdx.x; i < kRows; i += kThreads) spread_costs(cuts, i);
    for (int i = threadIdx.x; i < kMostFitTables * kPlaces; i += kThreads)
      shared_.lasts[i / kPlaces][i % kPlaces] =
          i % kPlaces < kMaxTableBins ? cuts.lasts[i / kPlaces * kMaxTableBins + i % kPlaces]
                                      : static_cast<Word>(~Word{0} >> 1);
    for (int i = threadIdx.x; i < kAnsNames; i += kThreads) shared_.names[0][i] = cuts.names[i];
    clear(shared_.starts);
    clear(shared_.near_names);
    if (threadIdx.x < kMostFitTables) shared_.steps[threadIdx.x] = 0;
    __syncthreads();  // nothing has ends yet
    for (int half = device::warp_number(); half < 2 * cuts.tables; half += kAnsPageWarps) {
      const int table = half / 2, num_bins = cuts.bins[table];
      if constexpr (!kAllNear) find_starts(table, half % 2 != 0, num_bins);
      name_near(table, half % 2 != 0, num_bins);
    }
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
      std::uint32_t& count = shared_.counts[0][name];
      if (count == 0) continue;
      atomicAdd(&args_.counts[task].counts[name], count);
      count = 0;
    }
  }

 private:
  static constexpr int kClusters = kMostFitTables;
  static constexpr int kRunBits = 3;
  static_assert(kAnsRun == 1 << kRunBits && kMinSpanBits >= kRunBits);
  // Of starts, beside the place.
  static constexpr std::uint32_t kPlaceMask = kMaxTableBins - 1;
  static constexpr std::uint32_t kHasEnds = 1 << 15;

  template <class Array>
  __device__ static void clear(Array& array) {
    for (int i = threadIdx.x; i < static_cast<int>(sizeof array / sizeof(uint4)); i += kThreads)
      reinterpret_cast<uint4*>(&array)[i] = make_uint4(0, 0, 0, 0);
  }

  /// Costs of every second of a thread's residuals in each cluster, two and two in a word: 32 residuals add up in 16 bits.
  struct PairedCosts {
    std::uint32_t pairs[kClusters / 2] = {};

    __device__ void add(uint2 row) { pairs[0] += row.x, pairs[1] += row.y; }
  };

  template <int kSums>
  __device__ static void add_neighbour(std::uint32_t (&sums)[kSums], int distance) {
#pragma unroll
    for (std::uint32_t& sum : sums) sum += __shfl_xor_sync(device::kWholeWarp, sum, distance);
  }

  /// A row of costs; clusters that do not exist are dearest.
  __device__ void spread_costs(const AnsCutTables<Word>& cuts, int number) {
    const int first = number << kRowBits;
    const Word size = Classes::size_from(first);
    const std::uint16_t* const row =
        cuts.costs[coarse_class(Classes::is_negative(first) ? ~size : size)];
#pragma unroll
    for (int c = 0; c < kClusters; ++c)
      shared_.costs[number][c] = c < cuts.tables ? row[c] : kDearest;
  }
  static constexpr std::uint16_t kDearest = (32u << 6) - 1;  // what a residual costs at most

  /// Where the classes of one sign begin in a table: counts the ends of bins in each, then those below it; by a warp.
  __device__ void find_starts(int table, bool is_negative, int num_bins) {
    using Signed = std::make_signed_t<Word>;
    const int thread = static_cast<int>(threadIdx.x & 31);
    auto* const pairs = reinterpret_cast<std::uint32_t*>(shared_.starts[table] +
                                                         (is_negative ? Classes::kHalf : 0));
    std::uint32_t most = 0, negatives = 0;  // ends
    for (int end = thread; end + 1 < num_bins; end += 32) {
      const Word last = shared_.lasts[table][end];
      const bool ends_negative = static_cast<Signed>(last) < 0;
      negatives += ends_negative ? 1 : 0;
      if (ends_negative != is_negative) continue;
      const int number = Classes::of(last) & (Classes::kHalf - 1), shift = 16 * (number & 1);
      const std::uint32_t others = atomicAdd(&pairs[number / 2], 1u << shift) >> shift & 0xffff;
      most = max(most, others + 1);
    }
    most = ~device::warp_min(~most);
    negatives = device::warp_sum(negatives);
    if (thread == 0 && most > 0) atomicMax(&shared_.steps[table], 1u << device::highest_bit(most));
    __syncwarp();  // all ends are counted
    std::uint32_t smaller = 0;
    for (int i = thread; i < Classes::kHalf / 2; i += 32) {
      const std::uint32_t low = pairs[i] & 0xffff, high = pairs[i] >> 16;
      const std::uint32_t end = smaller + device::warp_prefix(low + high), own = end - high;
      // Of negative residuals the larger ones are the lower ones.
      const std::uint32_t of_low = is_negative ? negatives - own : negatives + own - low;
      const std::uint32_t of_high = is_negative ? negatives - end : negatives + own;
      pairs[i] = start_of(of_low, low) | start_of(of_high, high) << 16;
      smaller = __shfl_sync(device::kWholeWarp, end, 31);
    }
  }
  /// Of a class that begins at this place, and has so many ends.
  __device__ static std::uint32_t start_of(std::uint32_t place, std::uint32_t ends) {
    return place | (ends > 0 ? kHasEnds : 0);
  }

  /// The names of near residuals of one sign, by a warp: counts the bins that begin with each, then those up to it.
  __device__ void name_near(int table, bool is_negative, int num_bins) {
    using Signed = std::make_signed_t<Word>;
    const int thread = static_cast<int>(threadIdx.x & 31);
    const Word first = is_negative ? Word{0} - kNear : 0;
    auto* const fours =
        reinterpret_cast<std::uint32_t*>(shared_.near_names[table] + (is_negative ? 0 : kNear));
    const std::uint8_t* const names = shared_.names[table];
    std::uint32_t before = 0;  // places
    for (int end = thread; end + 1 < num_bins; end += 32) {
      const Word begin = shared_.lasts[table][end] + 1, at = begin - first;
      if (static_cast<Signed>(begin) < static_cast<Signed>(first)) {
        ++before;
      } else if (at < kNear) {
        atomicAdd(&fours[at / 4], 1u << (8 * (at & 3)));
      }
    }
    before = device::warp_sum(before);
    __syncwarp();  // all begins are counted
    for (std::uint32_t i = thread; i < kNear / 4; i += 32) {
      std::uint32_t begins = fours[i];  // up to each byte's residual
      begins += begins << 8;
      begins += begins << 16;
      const std::uint32_t end = before + device::warp_prefix(begins >> 24);
      const std::uint32_t places = begins + (end - (begins >> 24)) * 0x01010101u;
      fours[i] = names[places & 0xff] | names[places >> 8 & 0xff] << 8 |
                 names[places >> 16 & 0xff] << 16 |
                 static_cast<std::uint32_t>(names[places >> 24]) << 24;
      before = __shfl_sync(device::kWholeWarp, end, 31);
    }
  }

  /// The name of the bin of any residual.
  __device__ std::uint32_t find_name(int table, Word residual) const {
    using Signed = std::make_signed_t<Word>;
    const std::uint32_t start = shared_.starts[table][Classes::of(residual)];
    std::uint32_t place = start & kPlaceMask;
    if ((start & kHasEnds) != 0) {
      const Word* const lasts = shared_.lasts[table];
      for (std::uint32_t step = shared_.steps[table]; step > 0; step /= 2)
        if (static_cast<Signed>(residual) > static_cast<Signed>(lasts[place + step - 1]))
          place += step;
    }
    return shared_.names[table][place];
  }

  /// Where the row of costs of a class is, in bytes.
  __device__ static std::uint16_t row_at(int number) {
    return static_cast<std::uint16_t>((number >> kRowBits) * sizeof(uint2));
  }

  /// The cluster that suits a span best, of equals the first.
  __device__ int cheapest_cluster(PairedCosts costs) const {
    static_assert(32 / (kAnsRun / kChoiceStep) == 8);  // threads whose costs add up in 16 bits
    if (span_shift_ >= 1) add_neighbour(costs.pairs, 1);
    if (span_shift_ >= 2) add_neighbour(costs.pairs, 2);
    if (span_shift_ >= 3) add_neighbour(costs.pairs, 4);
    std::uint32_t sums[kClusters];
#pragma unroll
    for (int c = 0; c < kClusters; ++c) sums[c] = costs.pairs[c / 2] >> (16 * (c & 1)) & 0xffff;
    if (span_shift_ >= 4) add_neighbour(sums, 8);
    if (span_shift_ >= 5) add_neighbour(sums, 16);
    std::uint32_t least = ~0u;
#pragma unroll
    for (int c = 0; c < kClusters; ++c) least = min(least, sums[c] * kClusters + c);
    return static_cast<int>(least % kClusters);
  }

  /// Finds the table and the bins of a run, and counts them; the table.
  template <class Place>
  __device__ int classify(const Place& place, const Word (&residuals)[kAnsRun]) {
    std::uint32_t numbers[kAnsRun], all = 0;  // of near residuals; kFar
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i) {
      const Word number = residuals[i] + kNear;
      numbers[i] =
          kAllNear || number < kFar ? static_cast<std::uint32_t>(number) : std::uint32_t{kFar};
      all |= numbers[i];
    }
    const bool some_are_far = !kAllNear && __any_sync(device::kWholeWarp, (all & kFar) != 0);
    int table = 0;
    if (tables_ > 1) {
      PairedCosts costs;
#pragma unroll
      for (int i = 0; i < kAnsRun; i += kChoiceStep) {
        std::uint32_t row = shared_.near_rows[numbers[i]];
        if (some_are_far && numbers[i] == kFar) row = row_at(Classes::of(residuals[i]));
        if (place.has(i))
          costs.add(*reinterpret_cast<const uint2*>(
              reinterpret_cast<const unsigned char*>(shared_.costs) + row));
      }
      table = cheapest_cluster(costs);
    }
    const std::uint8_t* const names = shared_.near_names[table];
    std::uint32_t bins[kAnsRun];
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i) bins[i] = names[numbers[i]];
    if (some_are_far) {
#pragma unroll
      for (int i = 0; i < kAnsRun; ++i)
        if (numbers[i] == kFar) bins[i] = find_name(table, residuals[i]);
    }
    std::uint32_t packed[2];
#pragma unroll
    for (int i = 0; i < kAnsRun; i += 4)
      packed[i / 4] = __byte_perm(__byte_perm(bins[i], bins[i + 1], 0x0040),
                                  __byte_perm(bins[i + 2], bins[i + 3], 0x0040), 0x5410);
    store_byte_run(args_.bins + place.at, place.count,
                   packed[0] | static_cast<std::uint64_t>(packed[1]) << 32);
    std::uint32_t* const counts = shared_.counts[table];
    std::uint32_t unknown = 0;
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i) {
      if (!place.has(i)) continue;
      atomicAdd(&counts[bins[i]], 1u);
      unknown |= bins[i];
    }
    if ((unknown & kUnknownName) != 0) note_reaches(place, table, bins, residuals);
    return table;
  }

  template <class Place>
  __device__ void note_reaches(const Place& place, int table, const std::uint32_t (&bins)[kAnsRun],
                               const Word (&residuals)[kAnsRun]) {
    using Atomic = std::conditional_t<sizeof(Word) == 8, long long, int>;
    AnsBinCounts<Word>& counts = args_.counts[task_];
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i) {
      if (!place.has(i) || (bins[i] & kUnknownName) == 0) continue;
      const auto name = table * kMaxTableBins + bins[i];
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
