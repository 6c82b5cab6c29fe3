// Stands in for CUDA's header of asynchronous copies.
#pragma once

#include <cuda_runtime.h>

inline void __pipeline_memcpy_async(void* shared, const void* global, std::size_t bytes) {
  simulator::copy_later(shared, global, bytes);
}
inline void __pipeline_commit() { simulator::close_copy_group(); }
inline void __pipeline_wait_prior(unsigned but_last) { simulator::wait_for_copy_groups(but_last); }
