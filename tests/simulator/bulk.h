// Barriers in shared memory (mbarriers) and the bulk copies that complete on them, for the simulated
// device. Bulk copies see shared memory through an engine of their own:
//
//   a load    lands when it is asked for, or as late as threads wait for it and for nothing else;
//             what lies in its place until then may become rubbish;
//   a store   reads shared memory when it is asked for or when its thread waits for that, and writes
//             at once or when its thread waits for that. A thread that ends before has failed;
//   a fence   makes what its thread has written visible to the engine. A thread that arrives at a
//             barrier without one since it last waited at a barrier hands on nothing: a store by a
//             thread that waits there reads what loads have left.
//
// Bulk copies are known in dynamic shared memory only, and fences only by way of barriers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simulator {

struct BulkLoad {
  unsigned char* shared;
  const unsigned char* global;
  int bytes;
  unsigned long long* barrier;
};

struct BulkStore {
  unsigned char* global = nullptr;
  const unsigned char* shared = nullptr;
  std::size_t bytes = 0;
  bool fenced = true;
  bool committed = false;
  bool read = false;
  bool written = false;
  std::vector<unsigned char> data = {};  ///< once it is read
};

/// What a block and a thread of it have under way.
struct BulkBlock {
  std::vector<BulkLoad> loads;
  std::vector<unsigned char> seen;  ///< dynamic shared memory as loads have left it
};
struct BulkThread {
  std::vector<BulkStore> stores;
  bool fenced = false;              ///< since it last waited
  bool handed_on_unfenced = false;  ///< where it last waited
};
/// Those of the thread that runs.
BulkBlock& bulk_block();
BulkThread& bulk_thread();
/// Called at the end of a thread, and of a block: the launch fails if copies are under way.
void end_bulk_thread();
void end_bulk_block();

void barrier_init(unsigned long long* barrier, int arrivals);
void barrier_arrive(unsigned long long* barrier);
void barrier_expect(unsigned long long* barrier, int bytes);
void barrier_wait(unsigned long long* barrier, int parity);

void bulk_load(void* shared, std::intptr_t global, int bytes, unsigned long long* barrier);
void bulk_store(std::intptr_t global, const void* shared, int bytes);
void bulk_wait_until_read();
void bulk_wait();
void fence_bulk();

}  // namespace simulator
