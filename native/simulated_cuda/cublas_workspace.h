// The workspace that cuBLAS gets from the caching allocator.
#pragma once

#include <cstddef>
#include <string>

namespace simulated_cuda {

/// Bytes of one workspace by the environment variable CUBLAS_WORKSPACE_CONFIG.
/// Warns and takes the default where the variable cannot be read.
size_t cublas_workspace_bytes();

/// Is this operator ("aten::mm") a product that a CUDA kernel hands to cuBLAS?
bool is_cublas_product(const std::string& name);

}  // namespace simulated_cuda
