// A device without a GPU: runs kernels, compiled as C++, so that their logic is tested where no CUDA
// is. A block is an OS thread, its threads are fibers that a seeded generator lets run in a random
// order of warps, so that a barrier too few shows. An asynchronous copy is done at once or as late as
// the kernel allows, by chance, so that a missing wait shows (see also bulk.h). Shared memory is full
// of rubbish when a block begins. It knows no memory model beyond what the host has, and no time.
//
// A launch that does what a device forbids fails with a message: see `fault`.
//
// The headers in tests/simulator/cuda stand in for those of CUDA and for kernels/device/ptx.cuh.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

namespace simulator {

/// The device that the stand-ins for CUDA's queries describe.
constexpr int kMultiprocessors = 6;
/// Of a block, or what the environment variable SIMULATED_SHARED_BYTES says, to be as a device with less.
int shared_bytes();
/// Devices are alike. A launch belongs to the one that its thread set last.
constexpr int kDevices = 2;
/// Blocks that run at once if a launch does not ask for all of them.
constexpr int kResidentBlocks = 5;
/// So many blocks of a launch begin in the order of their numbers; if there are more, none do.
constexpr unsigned kOrderedBlocks = 1024;

struct Grid {
  unsigned columns = 1;  ///< of blocks
  unsigned rows = 1;
  unsigned threads = 1;
  unsigned cluster = 1;  ///< blocks of a cluster
  bool cooperative = false;
  bool overlaps = false;  ///< begins before the kernel before it is done: every thread has to wait
  std::size_t shared_bytes = 0;

  unsigned blocks() const { return columns * rows; }
};

/// Runs a kernel to its end. False if it has failed.
bool launch(const Grid& grid, const std::function<void()>& kernel);
/// Another order of warps from the next launch on.
void set_seed(unsigned seed);

void set_device(int device);
int current_device();

/// The dynamic shared memory that a kernel may have on this thread's device.
std::size_t shared_limit(const void* kernel);
void set_shared_limit(const void* kernel, std::size_t bytes);
/// How often limits have been set.
unsigned limits_set();

// ---- What a thread of a kernel sees

unsigned thread_index();
unsigned block_column();
unsigned block_row();
const Grid& grid();
unsigned char* dynamic_shared();
/// Lets other threads run: in every loop that waits.
void yield();
/// Ends the launch, which then has failed: says why and never returns to the kernel.
[[noreturn]] void fault(const char* why);
/// True with a chance of one in `n`.
bool by_chance(unsigned n);
/// Whether what is asked for now comes as late as allowed, or at once.
bool comes_late();

void sync_threads();
/// Bit 0: all threads of the block have handed in true; bit 1: some have.
unsigned vote_of_block(bool mine);
/// Returns once all threads of the cluster have called it `arrive_in_cluster` as often as this one.
void arrive_in_cluster();
void wait_for_cluster();
/// Where a variable of this block's shared memory lies in another block of the cluster.
void* in_block(void* shared, unsigned block);

/// Threads of a warp that meet under one mask shall do so in one kind of call.
enum class Meet { barrier, exchange, vote };
/// Returns once all threads of `mask`, bits of a warp, have called it.
void sync_warp(unsigned mask);
/// All threads of `mask` hand in a word and get that of lane `from`.
std::uint64_t exchange_word(unsigned mask, std::uint64_t word, unsigned from);
/// Bit k: what lane k of `mask` has handed in.
unsigned vote(unsigned mask, bool mine);
/// Whether all lanes of `mask` have handed in true.
bool vote_of_all(unsigned mask, bool mine);

/// Returns once the kernel before is done.
void wait_for_predecessor();

/// Asks for a copy, which belongs to the thread's group of copies that is open.
void copy_later(void* to, const void* from, std::size_t bytes);
void close_copy_group();
/// Returns once all closed groups but the last few are done.
void wait_for_copy_groups(unsigned but_last);
/// Those of the open group, too.
void wait_for_all_copies();

template <class T>
T exchange(unsigned mask, T value, unsigned from) {
  static_assert(sizeof(T) <= 8);
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof(T));
  word = exchange_word(mask, word, from);
  std::memcpy(&value, &word, sizeof(T));
  return value;
}

}  // namespace simulator
