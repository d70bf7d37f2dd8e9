// Own kernels: scaled dot product attention, by the CPU's flash attention.
#include <ATen/Context.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/empty.h>

#include <array>

#include "host_compute.h"
#include "operators.h"

namespace simulated_cuda {

namespace {

// at::SDPBackend, aten/src/ATen/native/transformers/sdp_utils_cpp.h (not installed as a header).
constexpr int64_t kMath = 0;
constexpr int64_t kFlash = 1;

/// What a card of compute capability 8.9 chooses, of the two that are simulated. Flash attention
/// takes half types, four dimensions, no mask, heads of up to 256 (check_flash_attention in
/// aten/src/ATen/native/transformers/cuda/sdp_utils.cpp).
int64_t choose_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                         const OptionalTensor& mask, double, bool, std::optional<double>, bool) {
  const bool half = query.scalar_type() == at::kHalf || query.scalar_type() == at::kBFloat16;
  const bool masked = mask && mask->defined();
  const bool fits = query.dim() == 4 && query.size(-1) <= 256 && key.numel() > 0 &&
                    value.size(-1) == query.size(-1) && query.size(1) == key.size(1);
  const bool flash = half && fits && !masked && at::globalContext().userEnabledFlashSDP();
  return flash ? kFlash : kMath;
}

using FlashResults = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt,
                                c10::SymInt, at::Tensor, at::Tensor, at::Tensor>;

// Dropout is not applied (the CPU's kernel has none): sizes are the same, values are not.
FlashResults flash_attention(const at::Tensor& query, const at::Tensor& key,
                             const at::Tensor& value, double, bool is_causal, bool,
                             std::optional<double> scale) {
  const auto results = compute_on_host(query.device().index(), [&] {
    auto [output, logsumexp] = at::_scaled_dot_product_flash_attention_for_cpu(
        host_alias(query), host_alias(key), host_alias(value), /*dropout_p=*/0.0, is_causal,
        /*attn_mask=*/std::nullopt, scale);
    return std::array{output, logsumexp};
  });
  // The generator's state, which CUDA's kernel keeps for its backward: two tensors of 512 bytes.
  const auto state = query.options().dtype(at::kUInt64);
  return {results[0],        results[1],           at::Tensor(),         at::Tensor(),
          query.sym_size(2), key.sym_size(2), at::empty({2}, state), at::empty({}, state),
          at::Tensor()};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_attention_backward(
    const at::Tensor& grad, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const at::Tensor& output, const at::Tensor& logsumexp, const at::Tensor&, const at::Tensor&,
    c10::SymInt, c10::SymInt, double, bool is_causal, const at::Tensor&, const at::Tensor&,
    std::optional<double> scale) {
  const auto results = compute_on_host(query.device().index(), [&] {
    auto [q, k, v] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        host_alias(grad), host_alias(query), host_alias(key), host_alias(value), host_alias(output),
        host_alias(logsumexp), /*dropout_p=*/0.0, is_causal, /*attn_mask=*/std::nullopt, scale);
    return std::array{q, k, v};
  });
  return {results[0], results[1], results[2]};
}

}  // namespace

void add_attention_kernels(OwnKernels& kernels) {
  at::native::_fused_sdp_choice_stub.set_cuda_dispatch_ptr(&choose_attention);
  kernels.add("_scaled_dot_product_flash_attention", &flash_attention);
  kernels.add("_scaled_dot_product_flash_attention_backward", &flash_attention_backward);
}

}  // namespace simulated_cuda
