#include "simulator/device.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "simulator/bulk.h"
#include "simulator/device_memory.h"
#include "simulator/runners.h"
#include "simulator/spare.h"

namespace simulator {
namespace {

constexpr std::size_t kStackBytes = 128 << 10;
constexpr auto kPatience = std::chrono::seconds(60);
constexpr unsigned char kRubbish = 0xcd;
constexpr std::uint64_t kNobodysWord = 0xdeadbeefdeadbeef;

/// splitmix64: cheap to begin, which blocks do often.
struct Random {
  std::uint64_t state = 0;
  unsigned operator()() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<unsigned>(z >> 32);
  }
};

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
  unsigned group;
};

struct Fiber {
  void* stack_pointer = nullptr;  ///< null before it begins
  unsigned stack = 0;
  const unsigned* waits_for = nullptr;  ///< a count that is still `waits_while`
  unsigned waits_while = 0;
  unsigned cluster_arrivals = 0;
  std::vector<Copy> copies;  ///< that are asked for and not done, oldest first
  unsigned copy_group = 0;   ///< that is open
  BulkThread bulk;
  bool waited_for_predecessor = false;

  bool blocked() const { return waits_for != nullptr && *waits_for == waits_while; }
  void begin_anew() {
    stack_pointer = nullptr;
    waits_for = nullptr;
    cluster_arrivals = 0;
    copies.clear();
    copy_group = 0;
    bulk.stores.clear();
    bulk.fenced = bulk.handed_on_unfenced = false;
    waited_for_predecessor = false;
  }
};

/// Threads of a warp that exchange words under one mask, again and again.
struct Meeting {
  unsigned mask;
  Meet call = Meet::barrier;  ///< of those who have arrived
  unsigned arrived = 0;
  unsigned turns = 0;  ///< that are over
  struct Turn {
    unsigned there = 0;    ///< lanes that took part
    unsigned nonzero = 0;  ///< of these, those that handed in anything but 0
    std::array<std::uint64_t, 32> words{};
  } kept[2]{};
};

struct Warp {
  unsigned alive = 0;
  unsigned awake = 0;  ///< alive, and not in a meeting that others have to come to
  std::vector<std::unique_ptr<Meeting>> meetings;
  Meeting* latest = nullptr;
};

/// A turn of a warp: each of its threads runs until it waits for others.
struct WarpTurn {
  unsigned warp = 0;
  unsigned ahead = 0;  ///< threads that have not run yet
  bool backward = false;
  int picked = -1;  ///< thread of the block that runs next, if one is known
};

/// A barrier of the whole block, and a vote at it.
struct BlockBarrier {
  unsigned arrived = 0;
  unsigned turns = 0;
  bool all = true, some = false;
  unsigned result = 0;
};

/// What the blocks of a launch share.
struct Launch {
  Grid grid;
  const std::function<void()>* kernel;
  unsigned seed;
  std::vector<unsigned> order;  ///< in which blocks begin
  std::atomic<unsigned> next_block{0};
  std::atomic<bool> failed{false};
  std::vector<std::atomic<std::uint64_t>> cluster_arrivals;
  std::vector<std::atomic<char*>> anchors;  ///< of the blocks' thread-local storage
  std::vector<std::atomic<unsigned char*>> dynamic;
};

class Stacks;

/// What a runner needs of a block, kept from one to the next.
struct Block {
  Launch* launch = nullptr;
  Stacks* stacks = nullptr;
  unsigned index = 0;
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  BlockBarrier barrier;
  /// How often all threads of the cluster have arrived, as far as seen.
  unsigned cluster_turns = 0;
  BulkBlock bulk;
  unsigned char* dynamic = nullptr;
  void* scheduler = nullptr;
  unsigned current = 0;
  unsigned alive = 0;
  WarpTurn turn;
  std::vector<unsigned> live_warps;
  Random random;
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
  popq %rcx
  jmp *%rcx
.size gdelta_switch_stack, .-gdelta_switch_stack
.section .note.GNU-stack,"",@progbits
.text
)");
constexpr int kSavedWords = 6;
#else
#error "the simulator switches stacks on x86-64 only"
#endif

namespace {

/// Stacks of fibers, kept from block to block and from launch to launch. A thread takes one when it begins and gives
/// it back when it ends, so that kernels without barriers need few.
class Stacks {
 public:
  static constexpr unsigned kCount = 1024;

  Stacks() {
    stacks_ = static_cast<char*>(mmap(nullptr, kStackBytes * kCount, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (stacks_ == MAP_FAILED) std::abort();
  }
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks() { munmap(stacks_, kStackBytes * kCount); }

  /// Nobody has one any more, not even threads of a launch that failed, which never end.
  void free_all() {
    free_.clear();
    for (unsigned stack = kCount; stack-- > 0;) free_.push_back(stack);
  }
  unsigned take() {
    const unsigned stack = free_.back();
    free_.pop_back();
    return stack;
  }
  void give_back(unsigned stack) { free_.push_back(stack); }

  /// As gdelta_switch_stack leaves a stack: saved registers, then where to go on.
  void* prepare(unsigned stack, void (*start)()) {
    // Tops a power of two apart would meet in the same few lines of every cache.
    const std::size_t end = kStackBytes * (stack + 1) - stack * 320 % 16384;
    void** top = reinterpret_cast<void**>(stacks_ + end) - 8;
    *--top = nullptr;
    *--top = reinterpret_cast<void*>(start);
    for (int i = 0; i < kSavedWords; ++i) *--top = nullptr;
    return top;
  }

 private:
  char* stacks_;
  std::vector<unsigned> free_;
};

/// Those that no runner has.
Spare<Stacks> g_stacks;

/// The pages of a thread's variables of shared memory, all of which become rubbish again and again: those that nobody has
/// written since need not be written anew.
class RubbishPages {
 public:
  void spoil(unsigned char* begin, std::size_t bytes) {
    unsigned char* const end = begin + bytes;
    unsigned char* const first = begin + (kPage - reinterpret_cast<std::uintptr_t>(begin) % kPage);
    unsigned char* const last = end - reinterpret_cast<std::uintptr_t>(end) % kPage;
    if (first >= last) {
      std::memset(begin, kRubbish, bytes);
      return;
    }
    std::memset(begin, kRubbish, static_cast<std::size_t>(first - begin));
    make_rubbish(first, static_cast<std::size_t>(last - first));
    std::memset(last, kRubbish, static_cast<std::size_t>(end - last));
  }

 private:
  static constexpr std::size_t kPage = 4096;

  /// The pages are those of a file of rubbish, of which a thread has copies where it writes; these it forgets.
  void make_rubbish(unsigned char* pages, std::size_t bytes) {
    if (is_mapped(pages, bytes)) {
      if (madvise(pages, bytes, MADV_DONTNEED) != 0) std::abort();
    } else if (mmap(pages, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file_, 0) !=
               pages) {
      std::abort();
    }
  }
  /// Remembers the pages. Threads have the same number of them, or one more, and those of runners are never given back.
  bool is_mapped(unsigned char* pages, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (file_ < 0) {
      file_ = memfd_create("rubbish", MFD_CLOEXEC);
      const std::vector<unsigned char> rubbish(bytes + kPage, kRubbish);
      if (write(file_, rubbish.data(), rubbish.size()) != static_cast<ssize_t>(rubbish.size()))
        std::abort();
    }
    return !mapped_.insert(pages).second;
  }

  std::mutex mutex_;
  int file_ = -1;
  std::set<unsigned char*> mapped_;
};
RubbishPages g_rubbish_pages;

/// Variables of shared memory are thread-local: this thread's become rubbish, as on a device. It owns
/// nothing else there that is in use.
void spoil_shared_memory() {
  Block* const block = t_block;
  dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void*) {
        for (int i = 0; i < program->dlpi_phnum; ++i) {
          if (program->dlpi_phdr[i].p_type == PT_TLS && program->dlpi_tls_data != nullptr)
            g_rubbish_pages.spoil(static_cast<unsigned char*>(program->dlpi_tls_data),
                                  program->dlpi_phdr[i].p_memsz);
        }
        return 1;  // the program itself comes first; libraries are left alone
      },
      nullptr);
  t_block = block;
}

void go_on_where_all_are_there(Warp& warp, Meeting& meeting) {
  if (meeting.arrived == 0 || (meeting.mask & warp.alive & ~meeting.arrived) != 0) return;
  meeting.kept[meeting.turns & 1].there = meeting.arrived;
  warp.awake |= meeting.arrived;
  meeting.arrived = 0;
  ++meeting.turns;
}

void go_on_where_all_are_there(Block& block) {
  BlockBarrier& barrier = block.barrier;
  if (barrier.arrived == 0 || barrier.arrived < block.alive) return;
  barrier.result = (barrier.all ? 1u : 0u) | (barrier.some ? 2u : 0u);
  barrier.all = true;
  barrier.some = false;
  barrier.arrived = 0;
  ++barrier.turns;
}

/// Returns once the count has changed.
void block_while(const unsigned& count, unsigned value) {
  Fiber& f = fiber();
  f.waits_for = &count;
  f.waits_while = value;
  while (f.blocked()) yield();
  f.waits_for = nullptr;
}

/// Gives the thread of the warp that has its turn next, or -1.
int pick_thread(Block& block) {
  WarpTurn& turn = block.turn;
  if (turn.picked >= 0) return std::exchange(turn.picked, -1);
  const unsigned& awake = block.warps[turn.warp].awake;
  while ((awake & turn.ahead) != 0 && !block.launch->failed) {
    const unsigned left = awake & turn.ahead;
    const int lane = turn.backward ? std::bit_width(left) - 1 : std::countr_zero(left);
    turn.ahead = turn.backward ? (1u << lane) - 1 : ~1u << lane;
    const int thread = static_cast<int>(turn.warp * 32) + lane;
    if (!block.fibers[thread].blocked()) return thread;
  }
  return -1;
}

void end_thread(Block& block) {
  if (!fiber().copies.empty()) fault("a thread ends before its copies are done");
  if (block.launch->grid.overlaps && !fiber().waited_for_predecessor)
    fault("a thread ends and has never waited for the kernel before");
  end_bulk_thread();
  --block.alive;
  Warp& warp = block.warps[block.current / 32];
  warp.alive &= ~(1u << (block.current & 31));
  warp.awake &= warp.alive;
  for (const auto& meeting : warp.meetings) go_on_where_all_are_there(warp, *meeting);
  go_on_where_all_are_there(block);
  if (block.alive == 0) end_bulk_block();
}

/// Runs a thread, and behind it on the same stack those that have not begun, as long as it is their turn.
[[noreturn]] void run_fiber() {
  Block& block = *t_block;
  const unsigned stack = fiber().stack;
  for (;;) {
    (*block.launch->kernel)();
    end_thread(block);
    const int next = pick_thread(block);
    if (next < 0 || block.fibers[next].stack_pointer != nullptr) {
      block.turn.picked = next;
      break;
    }
    block.current = static_cast<unsigned>(next);
    fiber().stack = stack;
  }
  block.stacks->give_back(stack);
  for (;;) yield();
}

void run_thread(Block& block, unsigned thread) {
  Fiber& f = block.fibers[thread];
  if (f.stack_pointer == nullptr) {
    f.stack = block.stacks->take();
    f.stack_pointer = block.stacks->prepare(f.stack, &run_fiber);
  }
  block.current = thread;
  gdelta_switch_stack(&block.scheduler, f.stack_pointer);
}

/// Lets threads of a warp run for a while; false if all of them wait for others.
bool run_warp(Block& block, unsigned warp) {
  block.turn.warp = warp;
  block.turn.backward = block.random() % 2 == 0;
  bool ran = false;
  for (unsigned rest = 1 + block.random() % 32; rest > 0; --rest) {
    bool ran_now = false;
    block.turn.ahead = ~0u;
    for (int thread; !block.launch->failed && (thread = pick_thread(block)) >= 0; ran_now = true)
      run_thread(block, static_cast<unsigned>(thread));
    if (!ran_now) break;
    ran = true;
  }
  return ran;
}

void fail(Launch& launch, unsigned block, const char* why) {
  if (!launch.failed.exchange(true))
    std::fprintf(stderr, "simulator: block %u of %u: %s\n", block, launch.grid.blocks(), why);
}

/// Whether all threads wait for others of the block.
bool all_wait(const Block& block) {
  for (std::size_t t = 0; t < block.fibers.size(); ++t) {
    const Fiber& f = block.fibers[t];
    if ((block.warps[t / 32].alive >> t % 32 & 1) != 0 &&
        (!f.blocked() || f.waits_for == &block.cluster_turns))
      return false;
  }
  return true;
}

/// Looks whether all threads of the cluster have arrived once more.
void look_at_cluster(Block& block) {
  const Grid& of = block.launch->grid;
  const std::uint64_t arrived = block.launch->cluster_arrivals[block.index / of.cluster];
  block.cluster_turns = static_cast<unsigned>(arrived / (std::uint64_t{of.threads} * of.cluster));
}

void run_threads(Block& block) {
  Launch& launch = *block.launch;
  const auto start = std::chrono::steady_clock::now();
  unsigned idle = 0;
  for (std::uint64_t turn = 0; block.alive > 0 && !launch.failed; ++turn) {
    unsigned& warp = block.live_warps[block.random() % block.live_warps.size()];
    idle = run_warp(block, warp) ? 0 : idle + 1;
    if (block.warps[warp].alive == 0) {
      warp = block.live_warps.back();
      block.live_warps.pop_back();
    }
    if (idle > 100 + 10 * block.warps.size() && all_wait(block))
      fail(launch, block.index, "all threads wait for each other");
    if (launch.grid.cluster > 1) look_at_cluster(block);
    if (turn % 256 == 0 || idle > 2 * block.warps.size()) std::this_thread::yield();
    if (turn % 65536 == 65535 && std::chrono::steady_clock::now() - start > kPatience)
      fail(launch, block.index, "it waits for ever");
  }
}

void run_block(Launch& launch, unsigned index, Block& block) {
  block.index = index;
  const unsigned threads = launch.grid.threads;
  block.fibers.resize(threads);
  for (Fiber& f : block.fibers) f.begin_anew();
  block.warps.resize((threads + 31) / 32);
  block.alive = threads;
  for (Warp& warp : block.warps) {
    warp.meetings.clear();
    warp.latest = nullptr;
  }
  for (unsigned t = 0; t < threads; ++t) block.warps[t / 32].alive |= 1u << (t & 31);
  for (Warp& warp : block.warps) warp.awake = warp.alive;
  block.barrier = {};
  block.cluster_turns = 0;
  block.bulk = {};
  const std::size_t shared = (launch.grid.shared_bytes + 127) / 128 * 128 + 128;
  std::unique_ptr<unsigned char, decltype(&std::free)> dynamic(
      static_cast<unsigned char*>(std::aligned_alloc(128, shared)), &std::free);
  std::memset(dynamic.get(), kRubbish, shared);
  block.dynamic = dynamic.get();
  launch.anchors[index] = &t_anchor;
  launch.dynamic[index] = block.dynamic;
  block.live_warps.clear();
  for (unsigned warp = 0; warp < block.warps.size(); ++warp) block.live_warps.push_back(warp);
  block.random.state = (std::uint64_t{launch.seed} << 32) + index;
  run_threads(block);
}

/// Blocks start in order, if they are few; later ones once earlier ones have ended, unless all must
/// run at once.
void run_blocks(Launch& launch) {
  const unsigned blocks = launch.grid.blocks();
  const bool together = launch.grid.cooperative || launch.grid.cluster > 1;
  const unsigned runners = together ? blocks : std::min<unsigned>(blocks, kResidentBlocks);
  run_side_by_side(runners, [&launch, blocks] {
    spoil_shared_memory();
    std::unique_ptr<Stacks> stacks = g_stacks.take();
    stacks->free_all();
    Block block;
    block.launch = &launch;
    block.stacks = stacks.get();
    t_block = &block;
    for (unsigned b = launch.next_block++; b < blocks && !launch.failed; b = launch.next_block++)
      run_block(launch, launch.order[b], block);
    g_stacks.give_back(std::move(stacks));
  });
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

bool launch(const Grid& grid, const std::function<void()>& kernel) {
  const unsigned blocks = grid.blocks();
  if (blocks == 0) return true;
  Launch launch{grid, &kernel, g_seed++, {}, {}, {}, {}, {}, {}};
  for (unsigned b = 0; b < blocks; ++b) launch.order.push_back(b);
  if (blocks > kOrderedBlocks)
    std::shuffle(launch.order.begin(), launch.order.end(), std::mt19937(launch.seed));
  launch.cluster_arrivals = std::vector<std::atomic<std::uint64_t>>(blocks / grid.cluster);
  launch.anchors = std::vector<std::atomic<char*>>(blocks);
  launch.dynamic = std::vector<std::atomic<unsigned char*>>(blocks);
  run_blocks(launch);
  return !launch.failed;
}

unsigned thread_index() { return t_block->current; }
unsigned block_column() { return t_block->index % grid().columns; }
unsigned block_row() { return t_block->index / grid().columns; }
const Grid& grid() { return t_block->launch->grid; }
unsigned char* dynamic_shared() { return t_block->dynamic; }

int shared_bytes() {
  static const int bytes = [] {
    const char* const said = std::getenv("SIMULATED_SHARED_BYTES");
    return said != nullptr ? std::atoi(said) : 232448;
  }();
  return bytes;
}
BulkBlock& bulk_block() { return t_block->bulk; }
BulkThread& bulk_thread() { return fiber().bulk; }

// Straight to the next thread of the warp that has begun, if it is its turn: half as many switches.
void yield() {
  Block& block = *t_block;
  Fiber& f = fiber();
  void* next_stack = block.scheduler;
  if (const int next = pick_thread(block); next >= 0) {
    if (void* const begun = block.fibers[static_cast<std::size_t>(next)].stack_pointer) {
      block.current = static_cast<unsigned>(next);
      next_stack = begun;
    } else {
      block.turn.picked = next;
    }
  }
  gdelta_switch_stack(&f.stack_pointer, next_stack);
}

void fault(const char* why) {
  fail(*t_block->launch, t_block->index, why);
  for (;;) yield();  // nobody comes back
}

bool by_chance(unsigned n) { return t_block->random() % n == 0; }

bool comes_late() {
  // All early, all late, or as it happens.
  switch (t_block->launch->seed % 4) {
    case 0:
      return false;
    case 1:
      return true;
    default:
      return by_chance(2);
  }
}

unsigned vote_of_block(bool mine) {
  BlockBarrier& barrier = t_block->barrier;
  barrier.all &= mine;
  barrier.some |= mine;
  const unsigned turn = barrier.turns;
  ++barrier.arrived;
  go_on_where_all_are_there(*t_block);
  block_while(barrier.turns, turn);
  return barrier.result;
}

void sync_threads() { vote_of_block(true); }

void arrive_in_cluster() {
  ++fiber().cluster_arrivals;
  ++t_block->launch->cluster_arrivals[t_block->index / grid().cluster];
}

void wait_for_cluster() {
  const unsigned wanted = fiber().cluster_arrivals;
  while (t_block->cluster_turns < wanted)
    block_while(t_block->cluster_turns, t_block->cluster_turns);
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

Meeting& meeting_of(Warp& warp, unsigned mask, Meet call) {
  if (warp.latest != nullptr && warp.latest->mask == mask) return *warp.latest;
  const auto found = std::find_if(warp.meetings.begin(), warp.meetings.end(),
                                  [mask](const auto& meeting) { return meeting->mask == mask; });
  warp.latest = found != warp.meetings.end()
                    ? found->get()
                    : warp.meetings.emplace_back(new Meeting{mask, call}).get();
  return *warp.latest;
}

/// Hands in the thread's word and returns what all of `mask` have handed in, once they are there.
const Meeting::Turn& gather(Meet call, unsigned mask, std::uint64_t word) {
  const unsigned lane = t_block->current & 31;
  if ((mask >> lane & 1) == 0) fault("a thread calls for others of its warp and not for itself");
  Warp& warp = t_block->warps[t_block->current / 32];
  Meeting& meeting = meeting_of(warp, mask, call);
  if (meeting.arrived != 0 && meeting.call != call)
    fault("threads of a warp wait for each other in different calls");
  meeting.call = call;
  const unsigned turn = meeting.turns;
  Meeting::Turn& own = meeting.kept[turn & 1];
  if (meeting.arrived == 0) own.nonzero = 0;
  own.words[lane] = word;
  own.nonzero |= (word != 0 ? 1u : 0u) << lane;
  meeting.arrived |= 1u << lane;
  warp.awake &= ~(1u << lane);
  go_on_where_all_are_there(warp, meeting);
  block_while(meeting.turns, turn);
  return own;
}

}  // namespace

[[gnu::flatten]] void sync_warp(unsigned mask) { gather(Meet::barrier, mask, 0); }

[[gnu::flatten]] std::uint64_t exchange_word(unsigned mask, std::uint64_t word, unsigned from) {
  const Meeting::Turn& turn = gather(Meet::exchange, mask, word);
  return (turn.there >> (from & 31) & 1) != 0 ? turn.words[from & 31] : kNobodysWord;
}

namespace {

unsigned ballot(const Meeting::Turn& turn) { return turn.nonzero & turn.there; }

}  // namespace

[[gnu::flatten]] unsigned vote(unsigned mask, bool mine) {
  return ballot(gather(Meet::vote, mask, mine ? 1 : 0));
}

[[gnu::flatten]] bool vote_of_all(unsigned mask, bool mine) {
  const Meeting::Turn& turn = gather(Meet::vote, mask, mine ? 1 : 0);
  return ballot(turn) == turn.there;
}

void wait_for_predecessor() { fiber().waited_for_predecessor = true; }

void copy_later(void* to, const void* from, std::size_t bytes) {
  check_access(from, bytes);
  for (const Copy& copy : fiber().copies) {
    const auto* const other = static_cast<const char*>(copy.to);
    const auto* const own = static_cast<const char*>(to);
    if (own < other + copy.bytes && other < own + bytes)
      fault("two copies to the same place are under way, which may come in any order");
  }
  if (comes_late()) {
    fiber().copies.push_back({to, from, bytes, fiber().copy_group});
  } else {
    std::memcpy(to, from, bytes);
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
