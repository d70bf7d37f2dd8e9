// The frame of a kernel of ours that computes on the CPU.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "device.h"
#include "redirect.h"

namespace simulated_cuda {

using OptionalTensor = std::optional<at::Tensor>;

/// host_alias of a tensor that may be absent; undefined where it is.
inline at::Tensor host_alias(const OptionalTensor& tensor) {
  return tensor && tensor->defined() ? host_alias(*tensor) : at::Tensor();
}

/// Run `compute`, which makes CPU tensors and answers an array of them (undefined ones allowed).
/// They become results on `device`; all else it allocated must be freed when it returns.
template <typename Compute>
auto compute_on_host(int device, Compute compute) {
  OperatorScope scope(device);
  auto results = compute();
  for (const at::Tensor& result : results) move_to_device(result, device);
  scope.finish();
  return results;
}

}  // namespace simulated_cuda
