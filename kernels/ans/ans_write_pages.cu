// Encodes pages whose residuals have their tables and bins, a warp a page: symbols first, from the last residual
// to the first, which tells the size of the page; when sections have their places, its bytes.
#include "kernels/ans/ans_encode_pages.cuh"
#include "kernels/bitpack/order_cost.h"
#include "kernels/checksum/constant_check.cuh"
#include "kernels/device/block.cuh"
#include "kernels/words/copy_anywhere.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 32 * kAnsPageWarps;

template <class Word>
__device__ AnsPageShape page_shape(const AnsEncodeTables<Word>& tables, const PackTask& task,
                                   const AnsPageView& page) {
  return ans_page_shape(page.tuples, task.tuple, tables.span_bits, tables.tables);
}

// ---- Symbols

/// What all warps of a block look up.
struct SymbolShared {
  AnsSymbol symbols[kAnsNames];
  std::uint8_t offset_bits[kAnsNames];
};

template <class Word>
__device__ void encode_symbols(const AnsEncodeArgs<Word>& args, std::uint32_t task_number,
                               std::uint32_t page_number, const SymbolShared& shared) {
  const PackTask& task = args.tasks[task_number];
  const AnsEncodeTables<Word>& tables = args.tables[task_number];
  const AnsPageView page(task, page_number);
  const AnsPageShape shape = page_shape(tables, task, page);
  const int thread = threadIdx.x & 31, slot_bits = tables.slot_bits;
  const unsigned above = 0xfffffffeu << thread;
  std::uint16_t* const end =
      args.words + page.at + static_cast<std::uint64_t>(page.tuples) * task.tuple;
  std::uint16_t* last = end;  // word; they grow downwards
  std::uint32_t x = kAnsLowest, offset_bits = 0;
  for (std::uint64_t tile = shape.tiles; tile-- > 0;) {
    const auto first = static_cast<std::uint32_t>(tile * shape.tile_tuples());
    const int left =
        static_cast<int>(min(page.tuples - first, static_cast<std::uint32_t>(shape.tile_tuples())));
    const int mine = left - kAnsRun * thread;
    for (int lane = shape.tuple; lane-- > 0;) {
      int table = 0;
      if (mine > 0)
        table = args.selectors[page.at + (tile * shape.tuple + lane) * shape.spans +
                               (kAnsRun * thread >> shape.span_bits)];
      const std::uint64_t bins =
          load_byte_run(args.bins + page.at + static_cast<std::uint64_t>(lane) * page.tuples +
                            first + kAnsRun * thread,
                        mine);
#pragma unroll
      for (int i = kAnsRun; i-- > 0;) {
        const bool has = i < mine;
        const int name = table * kMaxTableBins + static_cast<int>(bins >> (8 * i) & 0xff);
        const AnsSymbol symbol = shared.symbols[name];
        const bool full = has && x >> (32 - slot_bits) >= symbol.frequency();
        const unsigned fulls = __ballot_sync(device::kWholeWarp, full);
        if (full) {
          last[-1 - __popc(fulls & above)] = static_cast<std::uint16_t>(x);
          x >>= 16;
        }
        last -= __popc(fulls);
        if (has) {
          x += symbol.start() + symbol.quotient(x) * ((1u << slot_bits) - symbol.frequency());
          offset_bits += shared.offset_bits[name];
        }
      }
    }
  }
  offset_bits = device::warp_sum(offset_bits);
  AnsPageState& state = args.pages[page.number];
  state.states[thread] = x;
  if (thread > 0) return;
  state.words = static_cast<std::uint32_t>(end - last);
  state.offset_bits = offset_bits;
}

template <class Word>
__global__ void __launch_bounds__(kThreads) ans_symbols_kernel(AnsEncodeArgs<Word> args) {
  __shared__ SymbolShared shared;
  const auto enter = [&](std::uint32_t task) {
    const AnsEncodeTables<Word>& tables = args.tables[task];
    for (int name = threadIdx.x; name < kAnsNames; name += kThreads) {
      shared.symbols[name] = tables.symbols[name];
      shared.offset_bits[name] = tables.offset_bits[name];
    }
  };
  for_each_bundle(
      args, enter,
      [&](std::uint32_t task, std::uint32_t page) { encode_symbols(args, task, page, shared); },
      [](std::uint32_t) {});
}

// ---- Sizes

/// Bytes of a page.
template <class Word>
__device__ std::uint32_t page_bytes(const AnsEncodeArgs<Word>& args, std::uint32_t task_number,
                                    std::uint32_t page_number) {
  const PackTask& task = args.tasks[task_number];
  const AnsPageView page(task, page_number);
  const AnsPageState& state = args.pages[page.number];
  const AnsPageShape shape = page_shape(args.tables[task_number], task, page);
  return task.state_bytes + static_cast<std::uint32_t>(shape.head_bytes()) + 2 * state.words +
         (state.offset_bits + 7) / 8;
}

template <class Word>
__global__ void __launch_bounds__(kThreads) choose_ans_kernel(AnsEncodeArgs<Word> args) {
  __shared__ std::uint32_t warp_sums[kAnsPageWarps];
  for (std::uint32_t t = blockIdx.x; t < args.num_tasks; t += gridDim.x) {
    const PackTask& task = args.tasks[t];
    std::uint32_t section_bytes = 0;
    for (std::uint32_t first = 0; first < task.num_pages; first += kThreads) {
      const std::uint32_t page = first + threadIdx.x;
      const std::uint32_t mine = page < task.num_pages ? page_bytes(args, t, page) : 0;
      const std::uint32_t end = device::block_prefix(mine, warp_sums, section_bytes);
      if (page < task.num_pages) args.page_ends[task.first_page + page] = end;
    }
    if (threadIdx.x > 0) continue;
    PackResult result{0, static_cast<std::uint32_t>(task.raw_bytes()), SectionKind::raw};
    const std::uint64_t table_bytes =
        4 * static_cast<std::uint64_t>(task.num_pages) + args.tables[t].field_bytes;
    if (args.differs[t] == 0) {
      result.kind = SectionKind::constant;
      result.section_bytes = static_cast<std::uint32_t>(task.value_bytes) * task.tuple;
      args.part_checks[task.first_page] = check_of_constant(task);
    } else if (worth_keeping(section_bytes, table_bytes, task.raw_bytes())) {
      result.kind = SectionKind::ans;
      result.section_bytes = section_bytes;
    }
    args.results[t] = result;
  }
}

// ---- Pages

/// Bits from the lowest up to any address, by a warp: each thread's follow those of the thread before it. They
/// are put together in shared memory and leave in whole words.
template <class Word>
class WarpBitWriter {
 public:
  static constexpr int kRoom = 32 * kAnsRun * static_cast<int>(sizeof(Word)) / 4 + 3;

  __device__ WarpBitWriter(std::uint32_t (&image)[kRoom], unsigned char* out)
      : image_(image),
        thread_(threadIdx.x & 31),
        lead_(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(out) & 3)),
        out_(out - lead_),
        bits_(8 * lead_) {
    for (int word = thread_; word < kRoom; word += 32) image_[word] = 0;
    __syncwarp();  // bits are zero before fields come
  }

  /// Bit at which this thread's begin, if it has so many. All call it, then `put`, then `flush`.
  __device__ std::uint32_t begin(std::uint32_t bits) {
    const std::uint32_t end = bits_ + device::warp_prefix(bits);
    bits_ = __shfl_sync(device::kWholeWarp, end, 31);
    return end - bits;
  }

  /// field < 2^bits; none of no bits.
  __device__ void put(std::uint32_t at, Word field) {
    const std::uint32_t word = at / 32, shift = at % 32;
    const auto low = static_cast<std::uint32_t>(field);
    const auto high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(field) >> 32);
    join(word, low << shift);
    join(word + 1, __funnelshift_l(low, high, shift));
    if constexpr (sizeof(Word) == 8) join(word + 2, __funnelshift_l(high, 0, shift));
  }

  /// Writes the words that are full.
  __device__ void flush() {
    __syncwarp();  // all fields are there
    const std::uint32_t full = bits_ / 32;
    const std::uint32_t rest = image_[full];
    for (std::uint32_t word = thread_; word < full; word += 32) store(word, 4);
    __syncwarp();  // all have read the rest, and what is full
    for (std::uint32_t word = thread_; word <= full; word += 32)
      image_[word] = word == 0 ? rest : 0;
    __syncwarp();  // bits are zero again
    out_ += 4 * full;
    bits_ -= 32 * full;
    if (full > 0) lead_ = 0;
  }

  /// Writes what is left, filled up to a byte.
  __device__ void finish() {
    if (thread_ == 0) store(0, (bits_ + 7) / 8);
  }

 private:
  __device__ void join(std::uint32_t word, std::uint32_t bits) {
    if (bits != 0) atomicOr(&image_[word], bits);
  }
  __device__ void store(std::uint32_t word, std::uint32_t bytes) const {
    const std::uint32_t begin = word == 0 ? lead_ : 0;
    if (begin == 0 && bytes == 4) {
      reinterpret_cast<std::uint32_t*>(out_)[word] = image_[word];
      return;
    }
    for (std::uint32_t b = begin; b < bytes; ++b)
      out_[4 * word + b] = static_cast<unsigned char>(image_[word] >> (8 * b));
  }

  std::uint32_t (&image_)[kRoom];
  int thread_;
  std::uint32_t lead_;  // bytes of the first word that are not the writer's
  unsigned char* out_;
  std::uint32_t bits_;
};

template <class Word>
struct WriteAnsShared {
  Word lowers[kAnsNames];
  std::uint8_t offset_bits[kAnsNames];
  std::uint8_t table_names[kMostFitTables];
  std::uint32_t images[kAnsPageWarps][WarpBitWriter<Word>::kRoom];
};

/// As bits, packed.
__device__ void write_selectors(unsigned char* out, const std::uint8_t* selectors,
                                const std::uint8_t* names, const AnsPageShape& shape) {
  const auto bits = static_cast<std::uint32_t>(shape.selector_bits);
  const auto count = static_cast<std::uint32_t>(shape.selectors());
  const auto bytes = static_cast<std::uint32_t>(shape.selector_bytes());
  for (std::uint32_t byte = threadIdx.x & 31; byte < bytes; byte += 32) {
    unsigned value = 0;
    const std::uint32_t first = 8 * byte / bits;
    for (std::uint32_t s = first; s < count && s * bits < 8 * byte + 8; ++s) {
      const int shift = static_cast<int>(s * bits) - static_cast<int>(8 * byte);
      const unsigned name = names[selectors[s]];
      value |= shift < 0 ? name >> -shift : name << shift;
    }
    out[byte] = static_cast<unsigned char>(value);
  }
}

template <class Word>
__device__ void write_offsets(const AnsEncodeArgs<Word>& args, const AnsPageView& page,
                              const AnsPageShape& shape, const WriteAnsShared<Word>& shared,
                              WarpBitWriter<Word>& writer) {
  const int thread = threadIdx.x & 31;
  for (std::uint64_t tile = 0; tile < shape.tiles; ++tile) {
    const auto first = static_cast<std::uint32_t>(tile * shape.tile_tuples());
    const int left =
        static_cast<int>(min(page.tuples - first, static_cast<std::uint32_t>(shape.tile_tuples())));
    const int mine = left - kAnsRun * thread;
    for (int lane = 0; lane < shape.tuple; ++lane) {
      int table = 0;
      if (mine > 0)
        table = args.selectors[page.at + (tile * shape.tuple + lane) * shape.spans +
                               (kAnsRun * thread >> shape.span_bits)];
      const std::uint64_t at =
          page.at + static_cast<std::uint64_t>(lane) * page.tuples + first + kAnsRun * thread;
      Word offsets[kAnsRun];
      load_run(args.residuals + at, mine, offsets);
      const std::uint64_t bins = load_byte_run(args.bins + at, mine);
      std::uint32_t bits[kAnsRun], all = 0;
#pragma unroll
      for (int i = 0; i < kAnsRun; ++i) {
        const int name = table * kMaxTableBins + static_cast<int>(bins >> (8 * i) & 0xff);
        bits[i] = i < mine ? shared.offset_bits[name] : 0;
        offsets[i] = bits[i] > 0 ? offsets[i] - shared.lowers[name] : 0;
        all += bits[i];
      }
      std::uint32_t bit = writer.begin(all);
#pragma unroll
      for (int i = 0; i < kAnsRun; ++i) {
        writer.put(bit, offsets[i]);
        bit += bits[i];
      }
      writer.flush();
    }
  }
  writer.finish();
}

template <class Word>
__device__ void write_page(const AnsEncodeArgs<Word>& args, std::uint32_t task_number,
                           std::uint32_t page_number, WriteAnsShared<Word>& shared) {
  const PackTask& task = args.tasks[task_number];
  const PackResult& result = args.results[task_number];
  const AnsPageView page(task, page_number);
  const AnsPageShape shape = page_shape(args.tables[task_number], task, page);
  const AnsPageState& state = args.pages[page.number];
  const int thread = threadIdx.x & 31;
  unsigned char* out =
      args.out + result.section_at + (page_number == 0 ? 0 : args.page_ends[page.number - 1]);
  const unsigned char* const states =
      args.page_states + page.number * static_cast<std::uint64_t>(args.state_room);
  for (std::uint32_t i = thread; i < task.state_bytes; i += 32) out[i] = states[i];
  out += task.state_bytes;
  const auto store = [](unsigned char* to, std::uint32_t value) {
    for (int b = 0; b < 4; ++b) to[b] = static_cast<unsigned char>(value >> (8 * b));
  };
  if (thread == 0) store(out, state.words);
  if (thread < shape.states) store(out + 4 + kAnsStateBytes * thread, state.states[thread]);
  if (shape.selector_bits > 0)
    write_selectors(out + 4 + kAnsStateBytes * shape.states, args.selectors + page.at,
                    shared.table_names, shape);
  out += shape.head_bytes();
  const std::uint16_t* const words =
      args.words + page.at + static_cast<std::uint64_t>(page.tuples) * task.tuple - state.words;
  copy_anywhere(reinterpret_cast<const unsigned char*>(words), out, 2 * state.words, thread, 32);
  out += 2 * state.words;
  WarpBitWriter<Word> writer(shared.images[threadIdx.x / 32], out);
  write_offsets(args, page, shape, shared, writer);
}

template <class Word>
__global__ void __launch_bounds__(kThreads) write_ans_kernel(AnsEncodeArgs<Word> args) {
  __shared__ WriteAnsShared<Word> shared;
  const auto enter = [&](std::uint32_t task) {
    const AnsEncodeTables<Word>& tables = args.tables[task];
    for (int name = threadIdx.x; name < kAnsNames; name += kThreads) {
      shared.lowers[name] = tables.lowers[name];
      shared.offset_bits[name] = tables.offset_bits[name];
    }
    if (threadIdx.x < kMostFitTables)
      shared.table_names[threadIdx.x] = tables.table_names[threadIdx.x];
  };
  const auto visit_page = [&](std::uint32_t task, std::uint32_t page) {
    if (args.results[task].kind == SectionKind::ans) write_page(args, task, page, shared);
  };
  for_each_bundle(args, enter, visit_page, [](std::uint32_t) {});
}

}  // namespace

template <class Word>
cudaError_t launch_ans_symbols(const AnsEncodeArgs<Word>& args, cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  if (auto error = device::launch_kernel(ans_symbols_kernel<Word>, bundle_grid(args), kThreads,
                                         stream, args))
    return error;
  constexpr std::uint32_t kMostBlocks = 1 << 16;
  return device::launch_kernel(choose_ans_kernel<Word>, min(args.num_tasks, kMostBlocks), kThreads,
                               stream, args);
}

template <class Word>
cudaError_t launch_write_ans(const AnsEncodeArgs<Word>& args, cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  return device::launch_kernel(write_ans_kernel<Word>, bundle_grid(args), kThreads, stream, args);
}

#define GDELTA_INSTANTIATE(Word)                                                     \
  template cudaError_t launch_ans_symbols(const AnsEncodeArgs<Word>&, cudaStream_t); \
  template cudaError_t launch_write_ans(const AnsEncodeArgs<Word>&, cudaStream_t);
GDELTA_INSTANTIATE(std::uint32_t)
GDELTA_INSTANTIATE(std::uint64_t)
#undef GDELTA_INSTANTIATE

}  // namespace gdelta::cuda
