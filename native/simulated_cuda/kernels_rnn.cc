// Own kernels: the fused LSTM and GRU cells, which CUDA tensors take and which have no CPU kernel.
//
// Results and saved workspaces have the sizes of CUDA's own (aten/src/ATen/native/cuda/RNN.cu):
// the LSTM keeps its four activated gates, the GRU r, z, n, hx and the hidden part of n.
#define AT_PER_OPERATOR_HEADERS  // TensorOperators.h would include every operator otherwise
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>

#include <array>

#include "host_compute.h"
#include "operators.h"

namespace simulated_cuda {

namespace {

/// input + hidden gates with their biases, which come in pairs or not at all.
at::Tensor with_bias(const at::Tensor& gates, const OptionalTensor& bias) {
  const at::Tensor values = host_alias(bias);
  return values.defined() ? gates + values : gates;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(
    const at::Tensor& input_gates, const at::Tensor& hidden_gates, const at::Tensor& cx,
    const OptionalTensor& input_bias, const OptionalTensor& hidden_bias) {
  const auto results = compute_on_host(input_gates.device().index(), [&] {
    at::Tensor gates = with_bias(host_alias(input_gates), input_bias) +
                       with_bias(host_alias(hidden_gates), hidden_bias);
    const auto parts = gates.chunk(4, 1);
    const at::Tensor in = parts[0].sigmoid_();
    const at::Tensor forget = parts[1].sigmoid_();
    const at::Tensor cell = parts[2].tanh_();
    const at::Tensor out = parts[3].sigmoid_();
    const at::Tensor cy = forget * host_alias(cx) + in * cell;
    return std::array{out * cy.tanh(), cy, gates};
  });
  return {results[0], results[1], results[2]};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell_backward(
    const OptionalTensor& grad_hy, const OptionalTensor& grad_cy, const at::Tensor& cx,
    const at::Tensor& cy, const at::Tensor& workspace, bool has_bias) {
  const bool has_hy = grad_hy && grad_hy->defined();
  const bool has_cy = grad_cy && grad_cy->defined();
  if (!has_hy && !has_cy) return {};
  const auto results = compute_on_host(cx.device().index(), [&] {
    const auto parts = host_alias(workspace).chunk(4, 1);
    const at::Tensor &in = parts[0], &forget = parts[1], &cell = parts[2], &out = parts[3];
    const at::Tensor tanh_cy = host_alias(cy).tanh();
    const at::Tensor gh = has_hy ? host_alias(grad_hy) : at::zeros_like(tanh_cy);
    at::Tensor gc = gh * out * (1 - tanh_cy * tanh_cy);
    if (has_cy) gc = gc + host_alias(grad_cy);
    const at::Tensor gates =
        at::cat({gc * cell * in * (1 - in), gc * host_alias(cx) * forget * (1 - forget),
                 gc * in * (1 - cell * cell), gh * tanh_cy * out * (1 - out)},
                1);
    return std::array{gates, gc * forget, has_bias ? gates.sum(0) : at::Tensor()};
  });
  return {results[0], results[1], results[2]};
}

std::tuple<at::Tensor, at::Tensor> gru_cell(const at::Tensor& input_gates,
                                            const at::Tensor& hidden_gates, const at::Tensor& hx,
                                            const OptionalTensor& input_bias,
                                            const OptionalTensor& hidden_bias) {
  const auto results = compute_on_host(input_gates.device().index(), [&] {
    const auto input = with_bias(host_alias(input_gates), input_bias).chunk(3, 1);
    const auto hidden = with_bias(host_alias(hidden_gates), hidden_bias).chunk(3, 1);
    const at::Tensor x = host_alias(hx);
    const at::Tensor reset = (input[0] + hidden[0]).sigmoid_();
    const at::Tensor update = (input[1] + hidden[1]).sigmoid_();
    const at::Tensor fresh = (input[2] + reset * hidden[2]).tanh_();
    return std::array{fresh + update * (x - fresh), at::cat({reset, update, fresh, x, hidden[2]}, 1)};
  });
  return {results[0], results[1]};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> gru_cell_backward(
    const at::Tensor& grad_hy, const at::Tensor& workspace, bool has_bias) {
  const auto results = compute_on_host(grad_hy.device().index(), [&] {
    const at::Tensor g = host_alias(grad_hy);
    const auto parts = host_alias(workspace).chunk(5, 1);
    const at::Tensor &reset = parts[0], &update = parts[1], &fresh = parts[2], &x = parts[3],
                     &hidden = parts[4];
    const at::Tensor gu = g * (x - fresh) * update * (1 - update);
    const at::Tensor gn = g * (1 - update) * (1 - fresh * fresh);
    const at::Tensor gr = gn * hidden * reset * (1 - reset);
    const at::Tensor input_gates = at::cat({gr, gu, gn}, 1);
    const at::Tensor hidden_gates = at::cat({gr, gu, gn * reset}, 1);
    return std::array{input_gates, hidden_gates, g * update,
                      has_bias ? input_gates.sum(0) : at::Tensor(),
                      has_bias ? hidden_gates.sum(0) : at::Tensor()};
  });
  return {results[0], results[1], results[2], results[3], results[4]};
}

}  // namespace

void add_rnn_kernels(OwnKernels& kernels) {
  kernels.add("_thnn_fused_lstm_cell", &lstm_cell);
  kernels.add("_thnn_fused_lstm_cell_backward_impl", &lstm_cell_backward);
  kernels.add("_thnn_fused_gru_cell", &gru_cell);
  kernels.add("_thnn_fused_gru_cell_backward", &gru_cell_backward);
}

}  // namespace simulated_cuda
