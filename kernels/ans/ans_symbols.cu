// Encodes the symbols of pages whose residuals have their tables and bins, a warp a page, from the last residual
// to the first, which tells the size of the page.
#include <type_traits>

#include "kernels/ans/ans_encode_pages.cuh"
#include "kernels/bitpack/order_cost.h"
#include "kernels/checksum/constant_check.cuh"
#include "kernels/device/block.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kAnsSymbolsThreads = 32 * kAnsPageWarps;

// ---- Symbols

/// A warp's states of a page, and where their words go.
class SymbolEncoder {
 public:
  /// `words`: room for as many as the page has residuals, filled from its end.
  __device__ SymbolEncoder(std::uint16_t* words, std::uint32_t room)
      : last_(words + room - 1),
        next_(words + room - 1),
        above_(0xfffffffeu << (threadIdx.x & 31)) {}

  /// Each thread's symbol, if it has one. A state that a symbol takes is below its frequency × 2^(32 - slot bits), so x + up
  /// wraps only if the bin has all slots, and then the quotient is multiplied by zero.
  __device__ void encode(const AnsWarpSymbol& symbol, bool has) {
    const bool is_full = has && x_ > symbol.most;
    const unsigned fulls = __ballot_sync(device::kWholeWarp, is_full);
    device::store_if(is_full, next_ - __popc(fulls & above_), static_cast<std::uint16_t>(x_));
    x_ = is_full ? x_ >> 16 : x_;
    next_ -= __popc(fulls);
    // Shifted by the lowest five bits of the fields.
    const std::uint32_t quotient =
        __funnelshift_r(__umulhi(x_ + symbol.up(), symbol.reciprocal), 0, symbol.fields);
    const std::uint32_t behind = x_ + symbol.start() + quotient * symbol.others;
    x_ = has ? behind : x_;
  }

  __device__ std::uint32_t state() const { return x_; }
  __device__ std::uint32_t words() const { return static_cast<std::uint32_t>(last_ - next_); }

 private:
  const std::uint16_t* last_;
  std::uint16_t* next_;
  unsigned above_;
  std::uint32_t x_ = kAnsLowest;
};

/// Encodes a run from its last symbol to its first; the bits of their offsets. `symbols`: those of all tables.
template <bool kWhole>
__device__ __forceinline__ std::uint32_t encode_run(SymbolEncoder& encoder,
                                                    const AnsWarpSymbol* symbols,
                                                    const AnsRunNames& names, int count) {
  symbols += names.table * kMaxTableBins;
  std::uint32_t offset_bits = 0;
#pragma unroll
  for (int i = kAnsRun; i-- > 0;) {
    const AnsWarpSymbol symbol = symbols[names.bin(i)];
    const bool has = kWhole || i < count;
    encoder.encode(symbol, has);
    if (has) offset_bits += symbol.offset_bits();
  }
  return offset_bits;
}

template <class Word>
__device__ void encode_symbols(const AnsEncodeArgs<Word>& args, std::uint32_t task_number,
                               std::uint32_t page_number, const AnsWarpSymbol* symbols) {
  const PackTask& task = args.tasks[task_number];
  const AnsEncodeTables<Word>& tables = args.tables[task_number];
  const AnsPageView page(task, page_number);
  const AnsPageShape shape = page_shape(tables, task, page);
  const int thread = threadIdx.x & 31;
  SymbolEncoder encoder(args.words + page.at, page.tuples * task.tuple);
  std::uint32_t offset_bits = 0;
  AnsNamesAhead names_ahead(args, page, shape, true);
  for (auto tile = static_cast<std::uint32_t>(shape.tiles); tile-- > 0;) {
    const auto left = static_cast<int>(page.tuples - tile * shape.tile_tuples());
    for (int lane = shape.tuple; lane-- > 0;) {
      const AnsRunNames names = names_ahead.next();
      if (left >= kMaxAnsTile && shape.states == kMaxAnsStates) {
        offset_bits += encode_run<true>(encoder, symbols, names, kAnsRun);
      } else {
        const int count = min(left, shape.tile_tuples()) - kAnsRun * thread;
        offset_bits += encode_run<false>(encoder, symbols, names, count);
      }
    }
  }
  offset_bits = device::warp_sum(offset_bits);
  AnsPageState& state = args.pages[page.number];
  state.states[thread] = encoder.state();
  if (thread > 0) return;
  state.words = encoder.words();
  state.offset_bits = offset_bits;
}

template <class Word>
__global__ void __launch_bounds__(kAnsSymbolsThreads, 4)
    ans_symbols_kernel(AnsEncodeArgs<Word> args) {
  __shared__ AnsWarpSymbol symbols[kAnsNames];
  device::wait_for_predecessor();
  const auto enter = [&](std::uint32_t task) {
    const AnsEncodeTables<Word>& tables = args.tables[task];
    for (int name = threadIdx.x; name < kAnsNames; name += kAnsSymbolsThreads)
      symbols[name] = tables.symbols[name];
  };
  for_each_bundle(
      args, enter,
      [&](std::uint32_t task, std::uint32_t page) { encode_symbols(args, task, page, symbols); },
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
__global__ void __launch_bounds__(kAnsSymbolsThreads) choose_ans_kernel(AnsEncodeArgs<Word> args) {
  __shared__ std::uint32_t warp_sums[kAnsPageWarps];
  for (std::uint32_t t = blockIdx.x; t < args.num_tasks; t += gridDim.x) {
    const PackTask& task = args.tasks[t];
    std::uint32_t section_bytes = 0;
    for (std::uint32_t first = 0; first < task.num_pages; first += kAnsSymbolsThreads) {
      const std::uint32_t page = first + threadIdx.x;
      const std::uint32_t mine = page < task.num_pages ? page_bytes(args, t, page) : 0;
      const std::uint32_t end = device::block_prefix(mine, warp_sums, section_bytes);
      if (page < task.num_pages) args.page_ends[task.first_page + page] = end;
    }
    if (threadIdx.x > 0) continue;
    PackResult result{0, static_cast<std::uint32_t>(task.raw_bytes()), SectionKind::raw};
    const std::uint64_t head_bytes = 4 * static_cast<std::uint64_t>(task.num_pages) +
                                     args.tables[t].field_bytes + task.map_bytes + task.step_bytes;
    if (args.differs[t] == 0) {
      result.kind = SectionKind::constant;
      result.section_bytes = static_cast<std::uint32_t>(task.value_bytes) * task.tuple;
      args.part_checks[task.first_page] = check_of_constant(task);
    } else if (worth_keeping(section_bytes + task.table_bytes, head_bytes, task.raw_bytes())) {
      result.kind = SectionKind::ans;
      result.section_bytes = section_bytes;
    }
    args.results[t] = result;
  }
}

}  // namespace

template <class Word>
cudaError_t launch_ans_symbols(const AnsEncodeArgs<Word>& args, cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  if (auto error = device::launch_after<ans_symbols_kernel<Word>>(bundle_grid(args),
                                                                  kAnsSymbolsThreads, stream, args))
    return error;
  constexpr std::uint32_t kMostBlocks = 1 << 16;
  return device::launch_kernel(choose_ans_kernel<Word>, min(args.num_tasks, kMostBlocks),
                               kAnsSymbolsThreads, stream, args);
}

template cudaError_t launch_ans_symbols(const AnsEncodeArgs<std::uint32_t>&, cudaStream_t);
template cudaError_t launch_ans_symbols(const AnsEncodeArgs<std::uint64_t>&, cudaStream_t);

}  // namespace gdelta::cuda
