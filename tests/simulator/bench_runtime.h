// What benches call of CUDA beside what kernels and the codec do: declared, so that benches compile where there is no
// CUDA. Nothing defines it, for they are not linked: a simulated device says nothing of speed.
#pragma once

#include <cuda_runtime.h>

using cudaEvent_t = struct SimulatedEvent*;
using cudaGraph_t = struct SimulatedGraph*;
using cudaGraphExec_t = struct SimulatedGraphExec*;
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal };
inline constexpr unsigned cudaHostRegisterDefault = 0;
inline constexpr cudaMemcpyKind cudaMemcpyDeviceToDevice{};

cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaGetLastError();
cudaError_t cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaHostRegister(void*, std::size_t, unsigned);
cudaError_t cudaHostUnregister(void*);
cudaError_t cudaDeviceGetPCIBusId(char*, int, int);
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                   cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);
cudaError_t cudaStreamCreate(cudaStream_t*);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
