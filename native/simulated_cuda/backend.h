// What PyTorch's own C++ asks a CUDA backend for: device guard, hooks and random generators.
#pragma once

#include <ATen/core/Generator.h>

namespace simulated_cuda {

/// Put guard and hooks in their places. After create_devices(), once.
void install_backend();

/// Has this PyTorch CUDA kernels of its own? Known after install_backend().
bool is_cuda_build() noexcept;

/// The default generator of device `index`, which must exist.
const at::Generator& default_generator(int index);

/// The CPU generator that does the work of a simulated device's generator.
const at::Generator& host_generator(const at::Generator& generator);

}  // namespace simulated_cuda
