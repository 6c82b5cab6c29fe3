// GDELTA_HD marks what host code and kernels share.
#pragma once

#if defined(__CUDACC__)
#define GDELTA_HD __host__ __device__
#else
#define GDELTA_HD
#endif
