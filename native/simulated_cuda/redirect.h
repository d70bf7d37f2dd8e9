// CPU kernels at work for a simulated device: aliases of its tensors, and the boxed redirect that
// serves every operator of the CUDA key which has no kernel of ours.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/stack.h>

namespace simulated_cuda {

/// A CPU tensor over the storage of the CUDA tensor `tensor`, with its version counter.
at::Tensor host_alias(const at::Tensor& tensor);

/// Turn a CPU tensor that a kernel made for `device` into a CUDA tensor, in place.
void move_to_device(const at::Tensor& tensor, int device);

/// Boxed kernel: run the operator's CPU kernel on aliases; what it made is born on the device.
void redirect(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

}  // namespace simulated_cuda
