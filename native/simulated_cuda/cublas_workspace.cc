#include "cublas_workspace.h"

#include <c10/util/Exception.h>

#include <cstdio>
#include <cstdlib>
#include <unordered_set>

namespace simulated_cuda {

namespace {

// aten/src/ATen/cuda/CublasHandlePool.cpp parseChosenWorkspaceSize: ":4096:2:16:8" KiB times
// count on devices before compute capability 9.0. The simulated device says 8.9.
constexpr size_t kDefaultBytes = (4096 * 2 + 16 * 8) * 1024;

}  // namespace

size_t cublas_workspace_bytes() {
  const char* config = std::getenv("CUBLAS_WORKSPACE_CONFIG");
  if (config == nullptr) return kDefaultBytes;
  // Pairs of ":size:count"; what is no pair ends the reading.
  size_t kibibytes = 0;
  bool any = false;
  unsigned long size = 0;
  unsigned long count = 0;
  int length = 0;
  while (std::sscanf(config, ":%9lu:%9lu%n", &size, &count, &length) == 2) {
    kibibytes += size * count;
    config += length;
    any = true;
  }
  if (!any) {
    TORCH_WARN("Could not parse CUBLAS_WORKSPACE_CONFIG, using default workspace size of ",
               kDefaultBytes, " bytes.");
    return kDefaultBytes;
  }
  return kibibytes * 1024;
}

bool is_cublas_product(const std::string& name) {
  // Operators whose CUDA kernels fetch a cuBLAS handle (aten/src/ATen/native/cuda/Blas.cpp,
  // LinearAlgebra.cpp). linear, matmul and mv reach these; convolutions go to cuDNN.
  static const std::unordered_set<std::string> products{
      "aten::mm",     "aten::addmm",  "aten::addmm_",  "aten::_addmm_activation",
      "aten::bmm",    "aten::baddbmm", "aten::baddbmm_", "aten::addbmm",
      "aten::addbmm_", "aten::addmv", "aten::addmv_",  "aten::dot",
      "aten::vdot"};
  return products.count(name) != 0;
}

}  // namespace simulated_cuda
