// Encodes the symbols of pages whose residuals have their tables and bins, a warp a page, from the last residual
// to the first, which tells the size of the page.
#include <type_traits>

#include "kernels/ans/ans_encode_pages.cuh"
#include "kernels/bitpack/order_cost.h"
#include "kernels/checksum/constant_check.cuh"
#include "kernels/device/block.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 32 * kAnsPageWarps;

// ---- Symbols

/// What all warps of a block look up.
struct SymbolShared {
  AnsSymbol symbols[kAnsNames];
  std::uint8_t offset_bits[kAnsNames];
};

/// A state behind a symbol. A state that a symbol takes is below its frequency × 2^(32 - slot bits), so x + up wraps only if
/// the bin has all slots, and then the quotient is multiplied by zero.
__device__ inline std::uint32_t state_behind(const AnsSymbol& symbol, std::uint32_t x,
                                             int slot_bits) {
  const std::uint32_t quotient = __umulhi(x + symbol.up(), symbol.reciprocal) >> symbol.shift();
  return x + symbol.start() + quotient * ((1u << slot_bits) - symbol.frequency());
}

template <class Word>
__device__ void encode_symbols(const AnsEncodeArgs<Word>& args, std::uint32_t task_number,
                               std::uint32_t page_number, const SymbolShared& shared) {
  const PackTask& task = args.tasks[task_number];
  const AnsEncodeTables<Word>& tables = args.tables[task_number];
  const AnsPageView page(task, page_number);
  const AnsPageShape shape = page_shape(tables, task, page);
  const int thread = threadIdx.x & 31, slot_bits = tables.slot_bits;
  const unsigned above = 0xfffffffeu << thread;
  std::uint16_t* const words = args.words + page.at;
  const std::uint32_t room = page.tuples * task.tuple;
  std::uint32_t left_room = room;  // words grow downwards
  std::uint32_t x = kAnsLowest, offset_bits = 0;
  AnsNamesAhead names_ahead(args, page, shape, true);
  for (std::uint64_t tile = shape.tiles; tile-- > 0;) {
    const auto first = static_cast<std::uint32_t>(tile * shape.tile_tuples());
    const int left =
        static_cast<int>(min(page.tuples - first, static_cast<std::uint32_t>(shape.tile_tuples())));
    const int mine = left - kAnsRun * thread;
    for (int lane = shape.tuple; lane-- > 0;) {
      const AnsRunNames names = names_ahead.next();
      const auto encode = [&](auto is_whole) {
#pragma unroll
        for (int i = kAnsRun; i-- > 0;) {
          const bool has = is_whole || i < mine;
          const int name =
              names.table * kMaxTableBins + static_cast<int>(names.bins >> (8 * i) & 0xff);
          const AnsSymbol symbol = shared.symbols[name];
          const bool full = has && x >> (32 - slot_bits) >= symbol.frequency();
          const unsigned fulls = __ballot_sync(device::kWholeWarp, full);
          if (full) {
            words[left_room - 1 - __popc(fulls & above)] = static_cast<std::uint16_t>(x);
            x >>= 16;
          }
          left_room -= __popc(fulls);
          if (has) {
            x = state_behind(symbol, x, slot_bits);
            offset_bits += shared.offset_bits[name];
          }
        }
      };
      if (left >= kMaxAnsTile) {
        encode(std::true_type{});
      } else {
        encode(std::false_type{});
      }
    }
  }
  offset_bits = device::warp_sum(offset_bits);
  AnsPageState& state = args.pages[page.number];
  state.states[thread] = x;
  if (thread > 0) return;
  state.words = room - left_room;
  state.offset_bits = offset_bits;
}

template <class Word>
__global__ void __launch_bounds__(kThreads, 6) ans_symbols_kernel(AnsEncodeArgs<Word> args) {
  __shared__ SymbolShared shared;
  device::wait_for_predecessor();
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
  if (auto error =
          device::launch_after<ans_symbols_kernel<Word>>(bundle_grid(args), kThreads, stream, args))
    return error;
  constexpr std::uint32_t kMostBlocks = 1 << 16;
  return device::launch_kernel(choose_ans_kernel<Word>, min(args.num_tasks, kMostBlocks), kThreads,
                               stream, args);
}

template cudaError_t launch_ans_symbols(const AnsEncodeArgs<std::uint32_t>&, cudaStream_t);
template cudaError_t launch_ans_symbols(const AnsEncodeArgs<std::uint64_t>&, cudaStream_t);

}  // namespace gdelta::cuda
