#include "simulator/bulk.h"

#include <algorithm>
#include <cstring>

#include "simulator/device.h"

namespace simulator {
namespace {

/// Polls of a barrier for each load that lands late.
constexpr unsigned kPatience = 64;
constexpr unsigned char kRubbish = 0x5c;

/// Arrivals and bytes that the phase still waits for.
struct Barrier {
  std::uint64_t arrivals : 12;
  std::uint64_t pending : 12;
  std::uint64_t phase : 1;
  std::uint64_t unfenced : 1;      ///< somebody has arrived without a fence
  std::uint64_t was_unfenced : 1;  ///< in the phase before
  std::uint64_t spare : 5;
  std::int64_t bytes : 32;
};
static_assert(sizeof(Barrier) == sizeof(unsigned long long));

Barrier load(const unsigned long long* barrier) {
  Barrier b;
  std::memcpy(&b, barrier, sizeof b);
  return b;
}

void update(unsigned long long* barrier, unsigned arrivals, int bytes, bool fenced) {
  Barrier b = load(barrier);
  if (arrivals > b.pending) fault("more arrivals at a barrier than it was set up for");
  b.pending = b.pending - arrivals;
  b.bytes = b.bytes + bytes;
  b.unfenced = b.unfenced | static_cast<unsigned>(!fenced);
  if (b.pending == 0 && b.bytes == 0) {
    b.phase = b.phase ^ 1;
    b.pending = b.arrivals;
    b.was_unfenced = b.unfenced;
    b.unfenced = 0;
  }
  std::memcpy(barrier, &b, sizeof b);
}

/// The engine's view of dynamic shared memory.
unsigned char* seen(const unsigned char* shared, std::size_t bytes) {
  std::vector<unsigned char>& view = bulk_block().seen;
  if (view.empty()) view.assign(grid().shared_bytes, kRubbish);
  const std::ptrdiff_t at = shared - dynamic_shared();
  if (at < 0 || static_cast<std::size_t>(at) + bytes > view.size())
    fault("a bulk copy outside dynamic shared memory");
  return view.data() + at;
}

void land(const BulkLoad& load) {
  const auto bytes = static_cast<std::size_t>(load.bytes);
  std::memcpy(load.shared, load.global, bytes);
  std::memcpy(seen(load.shared, bytes), load.global, bytes);
  update(load.barrier, 0, -load.bytes, true);
}

void read(BulkStore& store) {
  if (store.read) return;
  const unsigned char* const from = store.fenced ? store.shared : seen(store.shared, store.bytes);
  store.data.assign(from, from + store.bytes);
  store.read = true;
}

void write(BulkStore& store) {
  read(store);
  if (!store.written) std::memcpy(store.global, store.data.data(), store.bytes);
  store.written = true;
}

/// Both addresses and the length are multiples of 16.
void check_alignment(std::intptr_t global, const void* shared, int bytes) {
  if (((global | reinterpret_cast<std::intptr_t>(shared) | bytes) & 15) != 0)
    fault("a bulk copy that is not aligned");
}

}  // namespace

void end_bulk_thread() {
  if (!bulk_thread().stores.empty()) fault("a thread ends before its bulk stores are done");
}

void end_bulk_block() {
  if (!bulk_block().loads.empty()) fault("a block ends before its bulk loads have landed");
}

void barrier_init(unsigned long long* barrier, int arrivals) {
  Barrier b{};
  b.arrivals = static_cast<unsigned>(arrivals);
  b.pending = b.arrivals;
  std::memcpy(barrier, &b, sizeof b);
}

void barrier_arrive(unsigned long long* barrier) { update(barrier, 1, 0, bulk_thread().fenced); }
void barrier_expect(unsigned long long* barrier, int bytes) {
  update(barrier, 1, bytes, bulk_thread().fenced);
}

void barrier_wait(unsigned long long* barrier, int parity) {
  for (;;) {
    const Barrier b = load(barrier);
    if (b.phase != static_cast<unsigned>(parity)) {
      bulk_thread().fenced = false;
      bulk_thread().handed_on_unfenced = b.was_unfenced != 0;
      return;
    }
    if (b.pending == 0 && b.bytes > 0 && by_chance(kPatience)) {
      std::vector<BulkLoad>& loads = bulk_block().loads;
      const auto found = std::find_if(loads.begin(), loads.end(), [&](const BulkLoad& load) {
        return load.barrier == barrier;
      });
      if (found != loads.end()) {
        const BulkLoad load = *found;
        loads.erase(found);
        land(load);
        continue;
      }
    }
    yield();
  }
}

void bulk_load(void* shared, std::intptr_t global, int bytes, unsigned long long* barrier) {
  check_alignment(global, shared, bytes);
  const BulkLoad load{.shared = static_cast<unsigned char*>(shared),
                      .global = reinterpret_cast<const unsigned char*>(global),
                      .bytes = bytes,
                      .barrier = barrier};
  if (!comes_late()) return land(load);
  bulk_block().loads.push_back(load);
  if (by_chance(2)) std::memset(load.shared, kRubbish, static_cast<std::size_t>(bytes));
}

void bulk_store(std::intptr_t global, const void* shared, int bytes) {
  check_alignment(global, shared, bytes);
  BulkStore store{.global = reinterpret_cast<unsigned char*>(global),
                  .shared = static_cast<const unsigned char*>(shared),
                  .bytes = static_cast<std::size_t>(bytes),
                  .fenced = !bulk_thread().handed_on_unfenced};
  if (!comes_late()) read(store);
  if (store.read && by_chance(2)) write(store);
  bulk_thread().stores.push_back(store);
}

void bulk_wait_until_read() {
  for (BulkStore& store : bulk_thread().stores) {
    store.committed = true;
    read(store);
  }
}

void bulk_wait() {
  std::vector<BulkStore>& stores = bulk_thread().stores;
  for (BulkStore& store : stores) {
    if (store.committed) write(store);
  }
  stores.erase(std::remove_if(stores.begin(), stores.end(),
                              [](const BulkStore& store) { return store.committed; }),
               stores.end());
}

void fence_bulk() { bulk_thread().fenced = true; }

}  // namespace simulator
