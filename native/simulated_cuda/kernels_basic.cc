// Own kernels: making tensors, copying, softmax, norms, and choices between libraries.
#define AT_PER_OPERATOR_HEADERS  // TensorOperators.h would include every operator otherwise
#include <ATen/EmptyTensor.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/_log_softmax_backward_data.h>
#include <ATen/ops/_softmax.h>
#include <ATen/ops/_softmax_backward_data.h>
#include <c10/core/DefaultDtype.h>

#include <array>
#include <vector>

#include "host_compute.h"
#include "operators.h"

namespace simulated_cuda {

namespace {

using OptionalDevice = std::optional<c10::Device>;
using OptionalType = std::optional<at::ScalarType>;
using OptionalLayout = std::optional<at::Layout>;

int device_or_current(const OptionalDevice& device) {
  const int index = device && device->has_index() ? device->index() : current_device();
  check_device(index);
  return index;
}

at::ScalarType type_or_default(OptionalType type) {
  return type ? *type : c10::typeMetaToScalarType(c10::get_default_dtype());
}

// The two operators all device memory of factories comes from. They ask the model first, so that a
// tensor larger than the device is refused before the host tries.
at::Tensor empty(c10::IntArrayRef size, OptionalType type, OptionalLayout, OptionalDevice device,
                 std::optional<bool>, std::optional<at::MemoryFormat> format) {
  const int index = device_or_current(device);
  auto tensor = at::Tensor(at::detail::empty_generic(
      size, device_allocator(index), c10::DispatchKeySet(c10::DispatchKey::CPU),
      type_or_default(type), format));
  move_to_device(tensor, index);
  return tensor;
}

at::Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride, OptionalType type,
                         OptionalLayout, OptionalDevice device, std::optional<bool>) {
  const int index = device_or_current(device);
  auto tensor = at::Tensor(at::detail::empty_strided_generic(
      size, stride, device_allocator(index), c10::DispatchKeySet(c10::DispatchKey::CPU),
      type_or_default(type)));
  move_to_device(tensor, index);
  return tensor;
}

// Not a redirect: between host and device, and between devices, nothing is allocated.
at::Tensor& copy_(at::Tensor& self, const at::Tensor& source, bool non_blocking) {
  at::Tensor to = self.is_cuda() ? host_alias(self) : self;
  to.copy_(source.is_cuda() ? host_alias(source) : source, non_blocking);
  return self;
}

// One stream: nobody else can still be using the memory.
void record_stream(at::Tensor&, c10::Stream) {}

// The CPU's softmax has no half-to-float form: CUDA's writes float results from half input.
template <typename Softmax>
at::Tensor softmax_forward(const at::Tensor& input, bool half_to_float, Softmax softmax) {
  return compute_on_host(input.device().index(), [&] {
    const at::Tensor values = host_alias(input);
    return std::array{softmax(half_to_float ? values.to(at::kFloat) : values)};
  })[0];
}

at::Tensor softmax(const at::Tensor& input, int64_t dim, bool half_to_float) {
  return softmax_forward(input, half_to_float,
                         [&](const at::Tensor& x) { return at::_softmax(x, dim, false); });
}

at::Tensor log_softmax(const at::Tensor& input, int64_t dim, bool half_to_float) {
  return softmax_forward(input, half_to_float,
                         [&](const at::Tensor& x) { return at::_log_softmax(x, dim, false); });
}

template <typename Backward>
at::Tensor softmax_backward_as(const at::Tensor& grad, const at::Tensor& output,
                               at::ScalarType input_type, Backward backward) {
  return compute_on_host(output.device().index(), [&] {
    const at::Tensor values = host_alias(output);
    return std::array{backward(host_alias(grad), values, values.scalar_type()).to(input_type)};
  })[0];
}

at::Tensor softmax_backward(const at::Tensor& grad, const at::Tensor& output, int64_t dim,
                            at::ScalarType input_type) {
  return softmax_backward_as(grad, output, input_type, [&](auto&& g, auto&& y, auto type) {
    return at::_softmax_backward_data(g, y, dim, type);
  });
}

at::Tensor log_softmax_backward(const at::Tensor& grad, const at::Tensor& output, int64_t dim,
                                at::ScalarType input_type) {
  return softmax_backward_as(grad, output, input_type, [&](auto&& g, auto&& y, auto type) {
    return at::_log_softmax_backward_data(g, y, dim, type);
  });
}

// d/dx of x * rstd * weight: with n = x * rstd and g = grad * weight,
// grad_x = rstd * (g - n * mean(g * n)) and grad_weight = sum(grad * n).
std::tuple<at::Tensor, at::Tensor> rms_norm_backward(const at::Tensor& grad, const at::Tensor& input,
                                                     c10::IntArrayRef normalized_shape,
                                                     const at::Tensor& rstd,
                                                     const OptionalTensor& weight,
                                                     std::array<bool, 2> wanted) {
  const auto results = compute_on_host(input.device().index(), [&] {
    const at::Tensor x = host_alias(input);
    const at::Tensor scale = host_alias(rstd);
    const at::Tensor w = host_alias(weight);
    const at::ScalarType type = scale.scalar_type();
    std::vector<int64_t> outer;
    std::vector<int64_t> inner;
    const int64_t outer_dims = x.dim() - static_cast<int64_t>(normalized_shape.size());
    for (int64_t dim = 0; dim < x.dim(); dim++) (dim < outer_dims ? outer : inner).push_back(dim);

    const at::Tensor g = host_alias(grad).to(type);
    const at::Tensor n = x.to(type) * scale;
    std::array<at::Tensor, 2> grads;
    if (wanted[0]) {
      const at::Tensor weighted = w.defined() ? g * w.to(type) : g;
      grads[0] = (scale * (weighted - n * (weighted * n).mean(inner, true))).to(x.scalar_type());
    }
    if (wanted[1] && w.defined()) {
      grads[1] = (outer.empty() ? g * n : (g * n).sum(outer)).to(w.scalar_type());
    }
    return grads;
  });
  return {results[0], results[1]};
}

// cuDNN and MIOpen are not there: the CTC loss takes PyTorch's own operators.
bool use_no_ctc_library(const at::Tensor&, const at::Tensor&, c10::IntArrayRef, c10::IntArrayRef,
                        int64_t) {
  return false;
}
bool use_no_ctc_library_tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                               const at::Tensor&, int64_t) {
  return false;
}

}  // namespace

void add_factory_kernels(OwnKernels& kernels) {
  kernels.add("empty.memory_format", &empty);
  kernels.add("empty_strided", &empty_strided);
  kernels.add("copy_", &copy_);
  kernels.add("record_stream", &record_stream);
  kernels.add("_use_cudnn_ctc_loss", &use_no_ctc_library);
  kernels.add("_use_cudnn_ctc_loss.Tensor", &use_no_ctc_library_tensor);
  kernels.add("_use_miopen_ctc_loss", &use_no_ctc_library);
  kernels.add("_use_miopen_ctc_loss.Tensor", &use_no_ctc_library_tensor);
}

void add_softmax_kernels(OwnKernels& kernels) {
  kernels.add("_softmax", &softmax);
  kernels.add("_log_softmax", &log_softmax);
  kernels.add("_softmax_backward_data", &softmax_backward);
  kernels.add("_log_softmax_backward_data", &log_softmax_backward);
}

void add_norm_kernels(OwnKernels& kernels) {
  kernels.add("_fused_rms_norm_backward", &rms_norm_backward);
}

}  // namespace simulated_cuda
