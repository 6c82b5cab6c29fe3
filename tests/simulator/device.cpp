#include "simulator/device.h"

#include <sys/mman.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace simulator {
namespace {

constexpr std::size_t kStackBytes = 128 << 10;
constexpr auto kPatience = std::chrono::seconds(120);

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
  unsigned group;
};

struct Fiber {
  void* stack_pointer = nullptr;
  bool done = false;
  unsigned warp_exchanges = 0;
  unsigned block_barriers = 0;
  std::uint64_t cluster_arrivals = 0;
  std::vector<Copy> copies;  ///< that are asked for and not done, oldest first
  unsigned copy_group = 0;   ///< that is open
};

/// What the blocks of a launch share.
struct Launch {
  Grid grid;
  const std::function<void()>* kernel;
  unsigned seed;
  std::atomic<unsigned> next_block{0};
  std::vector<std::atomic<std::uint64_t>> cluster_arrivals;
  std::vector<std::atomic<char*>> anchors;  ///< of the blocks' thread-local storage
  std::vector<std::atomic<unsigned char*>> dynamic;
};

struct Block {
  Launch* launch = nullptr;
  unsigned index = 0;
  std::vector<Fiber> fibers;
  std::vector<std::uint64_t> words;  ///< of warps: two turns of 32 lanes
  unsigned char* dynamic = nullptr;
  void* scheduler = nullptr;
  unsigned current = 0;
  unsigned alive = 0;
  std::mt19937 random;
};

thread_local Block* t_block;
thread_local char t_anchor;
thread_local int t_device = 0;
std::atomic<unsigned> g_seed{1};

std::mutex g_limits_mutex;
std::map<std::pair<int, const void*>, std::size_t> g_limits;  ///< by device and kernel
unsigned g_limits_set = 0;

Fiber& fiber() { return t_block->fibers[t_block->current]; }

}  // namespace

extern "C" void gdelta_switch_stack(void** save, void* restore);

#if defined(__x86_64__)
asm(R"(
.globl gdelta_switch_stack
.type gdelta_switch_stack, @function
gdelta_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size gdelta_switch_stack, .-gdelta_switch_stack
.section .note.GNU-stack,"",@progbits
.text
)");
constexpr int kSavedWords = 6;
#else
#error "the simulator switches stacks on x86-64 only"
#endif

namespace {

[[noreturn]] void run_fiber() {
  (*t_block->launch->kernel)();
  wait_for_all_copies();
  fiber().done = true;
  --t_block->alive;
  for (;;) yield();
}

void run_block(Launch& launch, unsigned index) {
  Block block;
  t_block = &block;
  block.launch = &launch;
  block.index = index;
  const unsigned threads = launch.grid.threads;
  const unsigned warps = (threads + 31) / 32;
  block.fibers.resize(threads);
  block.words.resize(std::size_t{warps} * 64);
  block.alive = threads;
  const std::size_t shared = (launch.grid.shared_bytes + 127) / 128 * 128 + 128;
  std::unique_ptr<unsigned char, decltype(&std::free)> dynamic(
      static_cast<unsigned char*>(std::aligned_alloc(128, shared)), &std::free);
  std::memset(dynamic.get(), 0xcd, shared);
  block.dynamic = dynamic.get();
  launch.anchors[index] = &t_anchor;
  launch.dynamic[index] = block.dynamic;

  const std::size_t stacks_bytes = kStackBytes * threads;
  void* const stacks = mmap(nullptr, stacks_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED) std::abort();
  for (unsigned t = 0; t < threads; ++t) {
    // As gdelta_switch_stack leaves a stack: saved registers, then where to go on.
    void** top = reinterpret_cast<void**>(static_cast<char*>(stacks) + kStackBytes * (t + 1)) - 8;
    *--top = nullptr;
    *--top = reinterpret_cast<void*>(&run_fiber);
    for (int i = 0; i < kSavedWords; ++i) *--top = nullptr;
    block.fibers[t].stack_pointer = top;
  }

  std::mt19937& random = block.random;
  random.seed(launch.seed * 7919 + index);
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t turn = 0; block.alive > 0; ++turn) {
    const unsigned warp = random() % warps;
    const unsigned first = warp * 32, lanes = std::min(threads - first, 32u);
    const bool backward = random() % 2 == 0;
    for (unsigned rest = 1 + random() % 32; rest > 0; --rest) {  // favoured for a while
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const unsigned t = first + (backward ? lanes - 1 - lane : lane);
        if (block.fibers[t].done) continue;
        block.current = t;
        gdelta_switch_stack(&block.scheduler, block.fibers[t].stack_pointer);
      }
    }
    if (turn % 256 == 0) std::this_thread::yield();
    if (turn % 65536 == 65535 && std::chrono::steady_clock::now() - start > kPatience) {
      std::fprintf(stderr, "simulator: block %u waits for ever\n", index);
      std::abort();
    }
  }
  munmap(stacks, stacks_bytes);
}

/// Blocks start in order; later ones once earlier ones have ended, unless all must run at once.
void run_blocks(Launch& launch) {
  const unsigned blocks = launch.grid.blocks;
  const bool together = launch.grid.cooperative || launch.grid.cluster > 1;
  const unsigned runners = together ? blocks : std::min<unsigned>(blocks, kResidentBlocks);
  std::vector<std::thread> threads;
  for (unsigned r = 0; r < runners; ++r) {
    threads.emplace_back([&launch, blocks] {
      for (unsigned b = launch.next_block++; b < blocks; b = launch.next_block++)
        run_block(launch, b);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

void set_seed(unsigned seed) { g_seed = seed; }

void set_device(int device) { t_device = device; }
int current_device() { return t_device; }

std::size_t shared_limit(const void* kernel) {
  const std::lock_guard lock(g_limits_mutex);
  const auto found = g_limits.find({t_device, kernel});
  return found == g_limits.end() ? 48 << 10 : found->second;
}

void set_shared_limit(const void* kernel, std::size_t bytes) {
  const std::lock_guard lock(g_limits_mutex);
  g_limits[{t_device, kernel}] = bytes;
  ++g_limits_set;
}

unsigned limits_set() {
  const std::lock_guard lock(g_limits_mutex);
  return g_limits_set;
}

void launch(const Grid& grid, const std::function<void()>& kernel) {
  if (grid.blocks == 0) return;
  Launch launch{grid, &kernel, g_seed++, {}, {}, {}, {}};
  launch.cluster_arrivals = std::vector<std::atomic<std::uint64_t>>(grid.blocks / grid.cluster);
  launch.anchors = std::vector<std::atomic<char*>>(grid.blocks);
  launch.dynamic = std::vector<std::atomic<unsigned char*>>(grid.blocks);
  run_blocks(launch);
}

unsigned thread_index() { return t_block->current; }
unsigned block_index() { return t_block->index; }
const Grid& grid() { return t_block->launch->grid; }
unsigned char* dynamic_shared() { return t_block->dynamic; }

void yield() {
  Fiber& f = fiber();
  gdelta_switch_stack(&f.stack_pointer, t_block->scheduler);
}

void sync_threads() {
  const unsigned wanted = ++fiber().block_barriers;
  for (;;) {
    bool all = true;
    for (const Fiber& f : t_block->fibers) all = all && (f.done || f.block_barriers >= wanted);
    if (all) return;
    yield();
  }
}

void arrive_in_cluster() {
  ++fiber().cluster_arrivals;
  ++t_block->launch->cluster_arrivals[t_block->index / grid().cluster];
}

void wait_for_cluster() {
  const std::uint64_t wanted = fiber().cluster_arrivals * grid().threads * grid().cluster;
  while (t_block->launch->cluster_arrivals[t_block->index / grid().cluster] < wanted) yield();
}

void* in_block(void* shared, unsigned block) {
  Launch& launch = *t_block->launch;
  const unsigned target = t_block->index / grid().cluster * grid().cluster + block;
  char* const address = static_cast<char*>(shared);
  char* const dynamic = reinterpret_cast<char*>(t_block->dynamic);
  if (address >= dynamic && address < dynamic + grid().shared_bytes)
    return launch.dynamic[target] + (address - dynamic);
  return launch.anchors[target] + (address - &t_anchor);
}

namespace {

/// Hands in the thread's word and returns those of its whole warp, once they are there.
const std::uint64_t* gather(std::uint64_t word) {
  Fiber& f = fiber();
  const unsigned thread = t_block->current;
  const unsigned first = thread & ~31u;
  const unsigned end = std::min<unsigned>(first + 32, t_block->launch->grid.threads);
  const unsigned wanted = ++f.warp_exchanges;
  std::uint64_t* const turn = &t_block->words[(thread / 32 * 2 + (wanted & 1)) * 32];
  turn[thread & 31] = word;
  for (unsigned t = first; t < end;) {
    const Fiber& other = t_block->fibers[t];
    if (other.done || other.warp_exchanges >= wanted) {
      ++t;
    } else {
      yield();
    }
  }
  return turn;
}

}  // namespace

std::uint64_t exchange_word(std::uint64_t word, unsigned from) { return gather(word)[from & 31]; }

unsigned vote(bool mine) {
  const std::uint64_t* const words = gather(mine ? 1 : 0);
  unsigned bits = 0;
  for (int lane = 0; lane < 32; ++lane) bits |= static_cast<unsigned>(words[lane] & 1) << lane;
  return bits;
}

void copy_later(void* to, const void* from, std::size_t bytes) {
  if (t_block->random() % 2 == 0) {
    std::memcpy(to, from, bytes);
  } else {
    fiber().copies.push_back({to, from, bytes, fiber().copy_group});
  }
}

void close_copy_group() { ++fiber().copy_group; }

void wait_for_copy_groups(unsigned but_last) {
  Fiber& f = fiber();
  std::size_t done = 0;
  for (; done < f.copies.size() && f.copies[done].group + but_last < f.copy_group; ++done) {
    const Copy& copy = f.copies[done];
    std::memcpy(copy.to, copy.from, copy.bytes);
  }
  f.copies.erase(f.copies.begin(), f.copies.begin() + static_cast<std::ptrdiff_t>(done));
}

void wait_for_all_copies() {
  close_copy_group();
  wait_for_copy_groups(0);
}

}  // namespace simulator
