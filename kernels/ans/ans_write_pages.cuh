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
  /// Words that wait until so many have come together.
  static constexpr std::uint32_t kTogether = 96;
  static constexpr int kRoom = kTogether + 32 * kAnsRun * static_cast<int>(sizeof(Word)) / 4 + 3;

  __device__ WarpBitWriter(std::uint32_t (&image)[kRoom], unsigned char* out)
      : image_(image),
        thread_(threadIdx.x & 31),
        lead_(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(out) & 3)),
        out_(out - lead_),
        bits_(8 * lead_) {
    for (int word = thread_; word < kRoom; word += 32) image_[word] = 0;
    __syncwarp();  // bits are zero before fields come
  }

  /// Writes a run of each thread's fields, field < 2^bits each.
  __device__ void write(const Word (&fields)[kAnsRun], const std::uint32_t (&bits)[kAnsRun]) {
    std::uint32_t pairs[kAnsRun / 2];
#pragma unroll
    for (int i = 0; i < kAnsRun / 2; ++i) pairs[i] = bits[2 * i] + bits[2 * i + 1];
    const std::uint32_t low = pairs[0] + pairs[1], high = pairs[2] + pairs[3];
    const std::uint32_t end = bits_ + device::warp_prefix(low + high);
    const std::uint32_t next = __shfl_sync(device::kWholeWarp, end, 31);
    if (next == bits_) return;
    const std::uint32_t at = end - low - high;
    // As many together as 64 bits hold, and none moved by 64.
    const auto all_have = [&](std::uint32_t most) {
      return __all_sync(device::kWholeWarp, low <= most && high <= most);
    };
    if (all_have(32)) {
      put(at, four_short(fields, bits, pairs, 0) |
                  static_cast<std::uint64_t>(four_short(fields, bits, pairs, 4)) << low);
    } else if (all_have(63)) {
      put(at, four_long(fields, bits, pairs, 0));
      put(at + low, four_long(fields, bits, pairs, 4));
    } else {
      put_few(at, fields, bits, pairs);
    }
    bits_ = next;
    if (bits_ >= 32 * kTogether) flush();
  }

  /// Writes what is left, filled up to a byte.
  __device__ void finish() {
    flush();
    if (thread_ == 0) store(0, image_[0], (bits_ + 7) / 8);
  }

 private:
  /// Four fields from `first` on, of 32 bits together at the most. What moves by 32 is zero.
  __device__ static std::uint32_t four_short(const Word (&fields)[kAnsRun],
                                             const std::uint32_t (&bits)[kAnsRun],
                                             const std::uint32_t (&pairs)[kAnsRun / 2], int first) {
    const auto moved = [](std::uint32_t field, std::uint32_t by) {
      return __funnelshift_l(0, field, by);
    };
    const auto pair = [&](int i) {
      return static_cast<std::uint32_t>(fields[i]) |
             moved(static_cast<std::uint32_t>(fields[i + 1]), bits[i]);
    };
    return pair(first) | moved(pair(first + 2), pairs[first / 2]);
  }
  /// The same, of less than 64 bits.
  __device__ static std::uint64_t four_long(const Word (&fields)[kAnsRun],
                                            const std::uint32_t (&bits)[kAnsRun],
                                            const std::uint32_t (&pairs)[kAnsRun / 2], int first) {
    const auto pair = [&](int i) {
      return fields[i] | static_cast<std::uint64_t>(fields[i + 1]) << bits[i];
    };
    return pair(first) | pair(first + 2) << pairs[first / 2];
  }
  /// Two at a time if 64 bits hold them, else one.
  __device__ void put_few(std::uint32_t at, const Word (&fields)[kAnsRun],
                          const std::uint32_t (&bits)[kAnsRun],
                          const std::uint32_t (&pairs)[kAnsRun / 2]) {
#pragma unroll
    for (int i = 0; i < kAnsRun / 2; at += pairs[i++]) {
      if constexpr (sizeof(Word) == 4) {
        put(at, fields[2 * i] | static_cast<std::uint64_t>(fields[2 * i + 1]) << bits[2 * i]);
      } else {
        put(at, fields[2 * i]);
        put(at + bits[2 * i], fields[2 * i + 1]);
      }
    }
  }
  __device__ void put(std::uint32_t at, std::uint64_t field) {
    const std::uint32_t shift = at % 32;
    const auto low = static_cast<std::uint32_t>(field);
    const auto high = static_cast<std::uint32_t>(field >> 32);
    std::uint32_t* const words = image_ + at / 32;
    atomicOr(words, low << shift);
    atomicOr(words + 1, __funnelshift_l(low, high, shift));
    atomicOr(words + 2, __funnelshift_l(high, 0, shift));
  }

  /// Writes the words that are full.
  __device__ void flush() {
    __syncwarp();  // all fields are there
    const std::uint32_t full = bits_ / 32;
    if (full == 0) return;
    const std::uint32_t rest = image_[full];
    __syncwarp();  // all have read the rest
    for (std::uint32_t word = thread_; word < full; word += 32) {
      store(word, image_[word], 4);
      image_[word] = 0;
    }
    __syncwarp();  // what was full is zero again
    if (thread_ == 0) {
      image_[full] = 0;
      image_[0] = rest;
    }
    __syncwarp();  // the rest is at the begin
    out_ += 4 * full;
    bits_ -= 32 * full;
    lead_ = 0;
  }
  __device__ void store(std::uint32_t word, std::uint32_t value, std::uint32_t bytes) const {
    const std::uint32_t begin = word == 0 ? lead_ : 0;
    if (begin == 0 && bytes == 4) {
      reinterpret_cast<std::uint32_t*>(out_)[word] = value;
      return;
    }
    for (std::uint32_t b = begin; b < bytes; ++b)
      out_[4 * word + b] = static_cast<unsigned char>(value >> (8 * b));
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
    std::uint32_t images[kAnsPageWarps][WarpBitWriter<Word>::kRoom];
    typename Runs::Room rooms[kAnsPageWarps];
  };

  __device__ PageWriter(const AnsEncodeArgs<Word>& args, Shared& shared)
      : args_(args), shared_(shared) {}

  /// The block calls it before it visits pages of a task, and waits behind it.
  __device__ void enter(std::uint32_t task) {
    const AnsEncodeTables<Word>& tables = args_.tables[task];
    for (int name = threadIdx.x; name < kAnsNames; name += kThreads)
      shared_.bins[name] = {tables.lowers[name], tables.offset_bits[name]};
    if (threadIdx.x < kMostFitTables)
      shared_.table_names[threadIdx.x] = tables.table_names[threadIdx.x];
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
  __device__ void write_offsets(const AnsPageView& page, const AnsPageShape& shape, Runs& runs,
                                WarpBitWriter<Word>& writer) {
    AnsNamesAhead names_ahead(args_, page, shape, false);
    runs.for_each([](const auto&, std::uint32_t) {},
                  [&](const auto& place, const Word(&residuals)[kAnsRun]) {
                    const AnsRunNames names = names_ahead.next();
                    const auto* const of_table = shared_.bins + names.table * kMaxTableBins;
                    Word offsets[kAnsRun];
                    std::uint32_t bits[kAnsRun];
#pragma unroll
                    for (int i = 0; i < kAnsRun; ++i) {
                      const auto bin = of_table[names.bin(i)];
                      bits[i] = place.has(i) ? static_cast<std::uint32_t>(bin.offset_bits) : 0;
                      offsets[i] = place.has(i) ? residuals[i] - bin.lower : 0;
                    }
                    writer.write(offsets, bits);
                  });
    writer.finish();
  }

  const AnsEncodeArgs<Word>& args_;
  Shared& shared_;
};

// Runs beside the kernel that writes heads, which starts it when all places are known; only what comes behind it needs to wait.
template <class Runs>
__global__ void __launch_bounds__(PageWriter<Runs>::kThreads, Runs::kBlocks)
    write_ans_kernel(AnsEncodeArgs<typename Runs::Word> args) {
  using Writer = PageWriter<Runs>;
  auto& shared = *reinterpret_cast<typename Writer::Shared*>(device::dynamic_shared());
  device::start_successor();
  Writer writer(args, shared);
  for_each_bundle(
      args, [&](std::uint32_t task) { writer.enter(task); },
      [&](std::uint32_t task, std::uint32_t page) { writer.visit(task, page); },
      [](std::uint32_t) {});
  device::wait_for_predecessor();
}

template <class Runs>
cudaError_t launch_write(const AnsEncodeArgs<typename Runs::Word>& args, cudaStream_t stream) {
  using Writer = PageWriter<Runs>;
  if (auto error = device::raise_shared_limit(write_ans_kernel<Runs>)) return error;
  return device::launch_after_with<write_ans_kernel<Runs>>(
      bundle_grid(args), Writer::kThreads, sizeof(typename Writer::Shared), stream, args);
}

}  // namespace gdelta::cuda
