// Makes tables from counts, a block a column and a warp a table: what AnsFit::finish does, and what encoding and
// heads need of it.
#include "kernels/ans/ans_encode_pages.cuh"
#include "kernels/ans/ans_field_writer.h"
#include "kernels/ans/ans_fit_rules.h"
#include "kernels/ans/log2_table.cuh"
#include "kernels/device/field_sink.cuh"
#include "kernels/device/shared_limit.h"

namespace gdelta::cuda {
namespace {

constexpr int kAnsFinishColumnsThreads = 32 * kMostFitTables;

/// A bin that has residuals.
template <class Word>
struct FoundBin {
  Word first, last;
  std::uint32_t count;
  std::uint16_t end;  // behind the places that it has
  std::uint16_t frequency;
};

template <class Word>
struct FinishShared {
  FoundBin<Word> found[kMostFitTables][kMaxTableBins];
  unsigned joinable[kMostFitTables][kMaxTableBins / 32];
  Log2Table log2;
  int bins[kMostFitTables];  // of each table that was named; 0: nobody has chosen it
  std::uint32_t field_bytes[kMostFitTables];
};

/// A sink that counts.
struct FieldCount {
  std::uint32_t bytes = 0;

  __device__ void le(int of_number, std::uint64_t) { bytes += of_number; }
  __device__ void varint(std::uint64_t value) {
    ++bytes;
    for (; value >= 128; value >>= 7) ++bytes;
  }
};

template <class Word>
class TableFinish {
 public:
  using Found = FoundBin<Word>;
  using Signed = std::make_signed_t<Word>;

  __device__ TableFinish(const AnsCutTables<Word>& cuts, const AnsBinCounts<Word>& counts,
                         int table, int value_bits, AnsEncodeTables<Word>& made,
                         FinishShared<Word>& shared)
      : cuts_(cuts),
        counts_(counts),
        table_(table),
        highest_(static_cast<Signed>(~Word{0} >> 1 >>
                                     (8 * static_cast<int>(sizeof(Word)) - value_bits))),
        thread_(threadIdx.x & 31),
        bins_(shared.found[table]),
        joinable_(shared.joinable[table]),
        made_(made),
        shared_(shared) {}

  /// The bins that have residuals, joined where that saves bits; how many there are.
  __device__ int find(int most) {
    const int places = cuts_.bins[table_];
    for (int at = 0; at < places; at += 32) {
      const int bin = at + thread_, place = table_ * kMaxTableBins + bin;
      const int name = bin < places ? name_of(bin) : 0;
      const bool has = bin < places && counts_.counts[name] > 0;
      const unsigned all = __ballot_sync(device::kWholeWarp, has);
      if (has) {
        const bool unknown = (name & kUnknownName) != 0;
        Found& found = bins_[size_ + __popc(all & ((1u << thread_) - 1))];
        found.first = unknown    ? counts_.first[name]
                      : bin == 0 ? static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1))
                                 : cuts_.lasts[place - 1] + 1;
        found.last =
            unknown ? counts_.last[name]
                    : static_cast<Word>(min(static_cast<Signed>(cuts_.lasts[place]), highest_));
        found.count = counts_.counts[name];
        found.end = static_cast<std::uint16_t>(bin + 1);
      }
      size_ += __popc(all);
    }
    __syncwarp();  // all are found
    find_joinable();
    __syncwarp();  // they have been read
    if (thread_ == 0) join_neighbours();
    size_ = __shfl_sync(device::kWholeWarp, size_, 0);
    __syncwarp();  // neighbours are joined
    while (size_ > most) join_cheapest();
    return size_;
  }

  /// Frequencies that add up to 2^slot_bits, at least 1 each, about in proportion.
  __device__ void find_frequencies(int slot_bits) {
    const std::uint64_t slots = std::uint64_t{1} << slot_bits;
    std::uint64_t all = 0;
    for (int b = thread_; b < size_; b += 32) all += bins_[b].count;
    all = device::warp_sum(all);
    int taken = 0;
    for (int b = thread_; b < size_; b += 32) {
      const std::uint64_t share = (bins_[b].count * slots + all / 2) / all;
      bins_[b].frequency = static_cast<std::uint16_t>(share < 1 ? 1 : share);
      taken += bins_[b].frequency;
    }
    __syncwarp();  // all have one
    int left = static_cast<int>(slots) - device::warp_sum(taken);
    for (; left != 0; left += left < 0 ? 1 : -1) {
      const int best = worthiest(left < 0);
      __syncwarp();  // all frequencies have been read
      if (thread_ == 0)
        bins_[best].frequency =
            static_cast<std::uint16_t>(bins_[best].frequency + (left < 0 ? -1 : 1));
      __syncwarp();  // the slot is given or taken
    }
  }

  /// What encoding needs of each name.
  /// A thread takes a bin of 32, then every 32nd of their places.
  __device__ void write_names(int slot_bits) const {
    std::uint32_t start = 0;
    int place = thread_;
    for (int first = 0; first < size_; first += 32) {
      const int number = first + thread_, count = min(size_ - first, 32);
      Found own{};
      if (number < size_) own = bins_[number];
      const std::uint32_t end = start + device::warp_prefix(std::uint32_t{own.frequency});
      start = __shfl_sync(device::kWholeWarp, end, 31);
      const int bits = offset_bits(own.first, own.last);
      const AnsWarpSymbol symbol = make_ans_warp_symbol(
          max(std::uint32_t{own.frequency}, 1u), number < size_ ? end - own.frequency : 0,
          slot_bits, static_cast<std::uint32_t>(bits));
      const int places_end = bins_[first + count - 1].end;
      while (__any_sync(device::kWholeWarp, place < places_end)) {
        int bin = 0;  // of these: the first that ends behind the place
        for (int step = 16; step > 0; step /= 2)
          if (bin + step <= count && bins_[first + bin + step - 1].end <= place) bin += step;
        const AnsWarpSymbol of_bin{
            .reciprocal = __shfl_sync(device::kWholeWarp, symbol.reciprocal, bin),
            .most = __shfl_sync(device::kWholeWarp, symbol.most, bin),
            .others = __shfl_sync(device::kWholeWarp, symbol.others, bin),
            .fields = __shfl_sync(device::kWholeWarp, symbol.fields, bin)};
        const Word lower = __shfl_sync(device::kWholeWarp, own.first, bin);
        const int offset_bits = __shfl_sync(device::kWholeWarp, bits, bin);
        if (place >= places_end) continue;
        const int name = name_of(place);
        made_.symbols[name] = of_bin;
        made_.lowers[name] = lower;
        made_.offset_bits[name] = static_cast<std::uint8_t>(offset_bits);
        place += 32;
      }
    }
  }

  /// Bytes of the table in a head.
  __device__ std::uint32_t field_bytes() const {
    std::uint32_t bytes = 0;
    for (int b = thread_; b < size_; b += 32) bytes += bytes_of(b);
    return start_bytes() + device::warp_sum(bytes);
  }

  __device__ void write_fields(unsigned char* out) const {
    if (thread_ == 0) {
      device::FieldSink sink{out};
      write_ans_table_start(sink, size_);
    }
    out += start_bytes();
    for (int at = 0; at < size_; at += 32) {
      const int b = at + thread_;
      const std::uint32_t mine = b < size_ ? bytes_of(b) : 0;
      const std::uint32_t end = device::warp_prefix(mine);
      device::FieldSink sink{out + end - mine};
      if (b < size_) write_bin(sink, b);
      out += __shfl_sync(device::kWholeWarp, end, 31);
    }
  }

 private:
  /// Of the bin at a place of the table.
  __device__ int name_of(int place) const {
    const int first = table_ * kMaxTableBins;
    return first + cuts_.names[first + place];
  }
  __device__ static int offset_bits(Word first, Word last) {
    return device::highest_bit(static_cast<Word>(last - first)) + 1;
  }

  // In 1/256, but for what all residuals of the table have in common.
  __device__ std::int64_t bits_of(Word first, Word last, std::uint32_t count) const {
    const auto of_one = static_cast<std::int64_t>(offset_bits(first, last)) << kFixedLog2Bits;
    return static_cast<std::int64_t>(count) * (of_one - shared_.log2.of(count)) +
           static_cast<std::int64_t>(kAnsBinBits << kFixedLog2Bits);
  }
  __device__ std::int64_t loss(const Found& a, const Found& b) const {
    return bits_of(a.first, b.last, a.count + b.count) - bits_of(a.first, a.last, a.count) -
           bits_of(b.first, b.last, b.count);
  }
  __device__ static Found joined(const Found& a, Found b) {
    b.first = a.first;
    b.count += a.count;
    return b;
  }

  /// Says of each bin, as it was found, whether it is worth joining to the one before it.
  __device__ void find_joinable() {
    for (int at = 0; at < size_; at += 32) {
      const int b = at + thread_;
      const bool is_joinable = b > 0 && b < size_ && loss(bins_[b - 1], bins_[b]) <= 0;
      const unsigned all = __ballot_sync(device::kWholeWarp, is_joinable);
      if (thread_ == 0) joinable_[at / 32] = all;
    }
  }

  /// Joins bins where that makes the table shorter by more than it makes the residuals longer; by one thread.
  __device__ void join_neighbours() {
    int kept = 0;
    bool is_joined = false;  // the last one that is kept
    for (int b = 0; b < size_; ++b) {
      const bool is_joinable = (joinable_[b / 32] >> b % 32 & 1) != 0;
      if (kept == b && !is_joinable) {  // nor has any before it been joined
        kept = b + 1;
        continue;
      }
      Found bin = bins_[b];
      bool joins = is_joined ? loss(bins_[kept - 1], bin) <= 0 : is_joinable;
      is_joined = joins;
      while (joins) {
        bin = joined(bins_[--kept], bin);
        joins = kept > 0 && loss(bins_[kept - 1], bin) <= 0;
      }
      bins_[kept++] = bin;
    }
    size_ = kept;
  }

  /// The two that lose least, of equals the first.
  __device__ void join_cheapest() {
    std::int64_t least = std::int64_t{1} << 62;
    int best = 0;
    for (int b = thread_; b + 1 < size_; b += 32) {
      const std::int64_t bits = loss(bins_[b], bins_[b + 1]);
      if (bits >= least) continue;
      least = bits;
      best = b;
    }
    for (int distance = 16; distance > 0; distance /= 2) {
      const std::int64_t other = __shfl_xor_sync(device::kWholeWarp, least, distance);
      const int who = __shfl_xor_sync(device::kWholeWarp, best, distance);
      if (other > least || (other == least && who >= best)) continue;
      least = other;
      best = who;
    }
    const Found both = joined(bins_[best], bins_[best + 1]);
    __syncwarp();  // both have been read
    for (int at = best + 1; at + 1 < size_; at += 32) {
      const int b = at + thread_;
      Found next{};
      if (b + 1 < size_) next = bins_[b + 1];
      __syncwarp();  // those that move have been read
      if (b + 1 < size_) bins_[b] = next;
      __syncwarp();  // and have moved
    }
    if (thread_ == 0) bins_[best] = both;
    --size_;
    __syncwarp();  // they are one
  }

  /// The bin to which a slot is worth most, or, of those with more than one, from which it is taken at least
  /// loss: count / frequency is what a slot is worth; of equals the first.
  __device__ int worthiest(bool takes) const {
    const int less = takes ? 1 : 0;
    int best = size_;
    const auto better = [&](int a, int b) {  // than b, or first of equals
      if (b >= size_) return a < size_;
      if (a >= size_) return false;
      const std::uint64_t worth =
          std::uint64_t{bins_[a].count} * static_cast<std::uint64_t>(bins_[b].frequency - less);
      const std::uint64_t of_b =
          std::uint64_t{bins_[b].count} * static_cast<std::uint64_t>(bins_[a].frequency - less);
      if (worth == of_b) return a < b;
      return takes ? worth < of_b : worth > of_b;
    };
    for (int b = thread_; b < size_; b += 32) {
      if (takes && bins_[b].frequency == 1) continue;
      if (better(b, best)) best = b;
    }
    for (int distance = 16; distance > 0; distance /= 2) {
      const int other = __shfl_xor_sync(device::kWholeWarp, best, distance);
      if (better(other, best)) best = other;
    }
    return best;
  }

  __device__ AnsBin<Word> bin_of(int b) const {
    return {.lower = bins_[b].first,
            .frequency = bins_[b].frequency,
            .offset_bits = static_cast<std::uint8_t>(offset_bits(bins_[b].first, bins_[b].last))};
  }
  template <class Sink>
  __device__ void write_bin(Sink& sink, int b) const {
    AnsBin<Word> before;
    if (b > 0) before = bin_of(b - 1);
    write_ans_bin(sink, b > 0 ? &before : nullptr, bin_of(b));
  }
  __device__ std::uint32_t bytes_of(int b) const {
    FieldCount count;
    write_bin(count, b);
    return count.bytes;
  }
  __device__ std::uint32_t start_bytes() const {
    FieldCount count;
    write_ans_table_start(count, size_);
    return count.bytes;
  }

  const AnsCutTables<Word>& cuts_;
  const AnsBinCounts<Word>& counts_;
  int table_;
  Signed highest_;  // offsets may reach further, but joined bins would take bits for that
  int thread_;
  Found* bins_;
  unsigned* joinable_;  // a bit of each bin
  int size_ = 0;
  AnsEncodeTables<Word>& made_;
  const FinishShared<Word>& shared_;
};

/// Few residuals do not tell probabilities to a slot.
__device__ int choose_slot_bits(std::uint64_t residuals, int tables, int most_bins) {
  const int most = min(kMaxSlotBits, 12 - selector_bits(tables));
  const int bits = min(max(device::highest_bit(residuals) - 2, kMinSlotBits + 2), most);
  return max(bits, device::highest_bit(static_cast<std::uint32_t>(most_bins)) + 1);
}

template <class Word>
__device__ void finish_column(const AnsEncodeArgs<Word>& args, std::uint32_t task_number,
                              FinishShared<Word>& shared) {
  const PackTask& task = args.tasks[task_number];
  const AnsCutTables<Word>& cuts = args.cuts[task_number];
  AnsEncodeTables<Word>& made = args.tables[task_number];
  const int table = static_cast<int>(threadIdx.x) / 32;
  TableFinish<Word> finish(cuts, args.counts[task_number], table, 8 * task.value_bytes, made,
                           shared);
  int bins = 0;
  if (table < cuts.tables) bins = finish.find(min(kMaxTableBins, kMaxAnsBins / cuts.tables));
  if (threadIdx.x % 32 == 0) shared.bins[table] = bins;
  __syncthreads();  // all tables know their bins
  int tables = 0, most_bins = 0, number = 0;
  for (int t = 0; t < kMostFitTables; ++t) {
    if (t == table) number = tables;
    tables += shared.bins[t] > 0 ? 1 : 0;
    most_bins = max(most_bins, shared.bins[t]);
  }
  const int slot_bits =
      choose_slot_bits(std::uint64_t{task.records} * task.tuple, tables, most_bins);
  std::uint32_t bytes = 0;
  if (bins > 0) {
    finish.find_frequencies(slot_bits);
    finish.write_names(slot_bits);
    bytes = finish.field_bytes();
  }
  if (threadIdx.x % 32 == 0) {
    shared.field_bytes[table] = bytes;
    made.table_names[table] = static_cast<std::uint8_t>(number);
  }
  __syncthreads();  // all tables know their length
  std::uint32_t begin = kAnsStartBytes, end = kAnsStartBytes;
  for (int t = 0; t < kMostFitTables; ++t) {
    if (t < table) begin += shared.field_bytes[t];
    end += shared.field_bytes[t];
  }
  if (bins > 0) finish.write_fields(made.fields + begin);
  if (threadIdx.x > 0) return;
  made.slot_bits = slot_bits;
  made.span_bits = cuts.span_bits;
  made.tables = tables;
  made.field_bytes = end;
  device::FieldSink sink{made.fields};
  write_ans_start(sink, slot_bits, cuts.span_bits, tables);
}

template <class Word>
__global__ void __launch_bounds__(kAnsFinishColumnsThreads)
    finish_ans_kernel(AnsEncodeArgs<Word> args) {
  auto& shared = *reinterpret_cast<FinishShared<Word>*>(device::dynamic_shared());
  shared.log2.fill(kAnsFinishColumnsThreads);
  __syncthreads();  // logarithms are there
  device::wait_for_predecessor();
  for (std::uint32_t task = blockIdx.x; task < args.num_tasks; task += gridDim.x) {
    finish_column(args, task, shared);
    __syncthreads();  // what the block shares has been used
  }
}

}  // namespace

template <class Word>
cudaError_t launch_finish_ans(const AnsEncodeArgs<Word>& args, cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  if (auto error = device::raise_shared_limit(finish_ans_kernel<Word>)) return error;
  constexpr std::uint32_t kMostBlocks = 1 << 16;
  return device::launch_after_with<finish_ans_kernel<Word>>(
      min(args.num_tasks, kMostBlocks), kAnsFinishColumnsThreads, sizeof(FinishShared<Word>),
      stream, args);
}

template cudaError_t launch_finish_ans(const AnsEncodeArgs<std::uint32_t>&, cudaStream_t);
template cudaError_t launch_finish_ans(const AnsEncodeArgs<std::uint64_t>&, cudaStream_t);

}  // namespace gdelta::cuda
