// Writes pages whose symbols are encoded and whose sections have their places, a warp a page: states, selectors,
// words, and the offsets of residuals in their bins.
#pragma once

#include "kernels/ans/ans_page_runs.cuh"
#include "kernels/device/shared_limit.h"
#include "kernels/words/copy_anywhere.cuh"

namespace gdelta::cuda {

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

  /// A run of fields, field < 2^bits each; `are_short`: none has more than 16.
  __device__ void put(std::uint32_t at, const Word (&fields)[kAnsRun],
                      const std::uint32_t (&bits)[kAnsRun], bool are_short) {
    if (sizeof(Word) == 8 && !are_short) {
#pragma unroll
      for (int i = 0; i < kAnsRun; at += bits[i++]) put(at, fields[i]);
      return;
    }
    // As many together as 64 bits hold.
    std::uint64_t pairs[kAnsRun / 2];
    std::uint32_t of_pairs[kAnsRun / 2];
#pragma unroll
    for (int i = 0; i < kAnsRun; i += 2) {
      pairs[i / 2] = fields[i] | static_cast<std::uint64_t>(fields[i + 1]) << bits[i];
      of_pairs[i / 2] = bits[i] + bits[i + 1];
    }
    if (!are_short) {
#pragma unroll
      for (int i = 0; i < kAnsRun / 2; at += of_pairs[i++]) put(at, pairs[i]);
      return;
    }
#pragma unroll
    for (int i = 0; i < kAnsRun / 2; i += 2) {
      put(at, pairs[i] | pairs[i + 1] << of_pairs[i]);
      at += of_pairs[i] + of_pairs[i + 1];
    }
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
  __device__ void put(std::uint32_t at, std::uint64_t field) {
    const std::uint32_t word = at / 32, shift = at % 32;
    const auto low = static_cast<std::uint32_t>(field);
    const auto high = static_cast<std::uint32_t>(field >> 32);
    join(word, low << shift);
    join(word + 1, __funnelshift_l(low, high, shift));
    join(word + 2, __funnelshift_l(high, 0, shift));
  }
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

/// As bits, packed.
__device__ inline void write_selectors(unsigned char* out, const std::uint8_t* selectors,
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

template <class Runs>
class PageWriter {
 public:
  using Word = typename Runs::Word;
  static constexpr int kThreads = 32 * kAnsPageWarps;

  struct Shared {
    struct Bin {
      Word lower, offset_bits;
    };
    alignas(16) Bin bins[kAnsNames];
    std::uint8_t table_names[kMostFitTables];
    bool are_long;  // the offsets of some bin
    std::uint32_t images[kAnsPageWarps][WarpBitWriter<Word>::kRoom];
    typename Runs::Room rooms[kAnsPageWarps];
  };

  __device__ PageWriter(const AnsEncodeArgs<Word>& args, Shared& shared)
      : args_(args), shared_(shared) {}

  /// The block calls it before it visits pages of a task, and waits behind it.
  __device__ void enter(std::uint32_t task) {
    const AnsEncodeTables<Word>& tables = args_.tables[task];
    if (threadIdx.x == 0) shared_.are_long = false;
    __syncthreads();  // none is known to be long
    for (int name = threadIdx.x; name < kAnsNames; name += kThreads)
      shared_.bins[name] = {tables.lowers[name], tables.offset_bits[name]};
    if (threadIdx.x < kMostFitTables) {
      shared_.table_names[threadIdx.x] = tables.table_names[threadIdx.x];
      if (tables.most_offset_bits[threadIdx.x] > kShortOffset) shared_.are_long = true;
    }
  }

  __device__ void visit(std::uint32_t task_number, std::uint32_t page_number) {
    const PackTask& task = args_.tasks[task_number];
    const PackResult& result = args_.results[task_number];
    if (result.kind != SectionKind::ans) return;
    const AnsPageView page(task, page_number);
    const AnsPageShape shape = page_shape(args_.tables[task_number], task, page);
    const AnsPageState& state = args_.pages[page.number];
    const int thread = static_cast<int>(threadIdx.x & 31);
    typename Runs::Room& room = shared_.rooms[threadIdx.x / 32];
    Runs runs(args_, task, page, shape, room);
    unsigned char* out =
        args_.out + result.section_at + (page_number == 0 ? 0 : args_.page_ends[page.number - 1]);
    runs.write_states(out);
    out += task.state_bytes;
    const auto store = [](unsigned char* to, std::uint32_t value) {
      for (int b = 0; b < 4; ++b) to[b] = static_cast<unsigned char>(value >> (8 * b));
    };
    if (thread == 0) store(out, state.words);
    if (thread < shape.states) store(out + 4 + kAnsStateBytes * thread, state.states[thread]);
    if (shape.selector_bits > 0)
      write_selectors(out + 4 + kAnsStateBytes * shape.states, args_.selectors + page.at,
                      shared_.table_names, shape);
    out += shape.head_bytes();
    const std::uint16_t* const words =
        args_.words + page.at + static_cast<std::uint64_t>(page.tuples) * task.tuple - state.words;
    copy_anywhere(reinterpret_cast<const unsigned char*>(words), out, 2 * state.words, thread, 32);
    out += 2 * state.words;
    WarpBitWriter<Word> writer(shared_.images[threadIdx.x / 32], out);
    write_offsets(page, shape, runs, writer);
  }

 private:
  static constexpr std::uint8_t kShortOffset = 16;

  __device__ void write_offsets(const AnsPageView& page, const AnsPageShape& shape, Runs& runs,
                                WarpBitWriter<Word>& writer) {
    AnsNamesAhead names_ahead(args_, page, shape, false);
    const bool are_short = !shared_.are_long;
    runs.for_each([](const auto&, std::uint32_t) {},
                  [&](const auto& place, const Word(&residuals)[kAnsRun]) {
                    const AnsRunNames names = names_ahead.next();
                    const auto* const of_table = shared_.bins + names.table * kMaxTableBins;
                    Word offsets[kAnsRun];
                    std::uint32_t bits[kAnsRun], all = 0;
#pragma unroll
                    for (int i = 0; i < kAnsRun; ++i) {
                      const auto bin = of_table[names.bins >> (8 * i) & 0xff];
                      bits[i] = place.has(i) ? static_cast<std::uint32_t>(bin.offset_bits) : 0;
                      offsets[i] = place.has(i) ? residuals[i] - bin.lower : 0;
                      all += bits[i];
                    }
                    writer.put(writer.begin(all), offsets, bits, are_short);
                    writer.flush();
                  });
    writer.finish();
  }

  const AnsEncodeArgs<Word>& args_;
  Shared& shared_;
};

template <class Runs>
__global__ void __launch_bounds__(PageWriter<Runs>::kThreads, Runs::kBlocks)
    write_ans_kernel(AnsEncodeArgs<typename Runs::Word> args) {
  using Writer = PageWriter<Runs>;
  auto& shared = *reinterpret_cast<typename Writer::Shared*>(device::dynamic_shared());
  device::wait_for_predecessor();
  Writer writer(args, shared);
  for_each_bundle(
      args, [&](std::uint32_t task) { writer.enter(task); },
      [&](std::uint32_t task, std::uint32_t page) { writer.visit(task, page); },
      [](std::uint32_t) {});
}

template <class Runs>
cudaError_t launch_write(const AnsEncodeArgs<typename Runs::Word>& args, cudaStream_t stream) {
  using Writer = PageWriter<Runs>;
  if (auto error = device::raise_shared_limit(write_ans_kernel<Runs>)) return error;
  return device::launch_after_with<write_ans_kernel<Runs>>(
      bundle_grid(args), Writer::kThreads, sizeof(typename Writer::Shared), stream, args);
}

}  // namespace gdelta::cuda
