// Which kernel serves which operator on the CUDA key.
#pragma once

#include <torch/library.h>

namespace simulated_cuda {

/// Register our own kernels, then the redirect for all other operators. Once.
void install_operators();

/// Serve every operator that the dispatcher knows now and that has no kernel of ours yet: by the
/// redirect where it has a CPU kernel, by its composite implementation where there is one, else
/// by a refusal that names it. To be called again after a library with kernels of its own was
/// loaded. Answers the number of operators added.
int register_operators();

// Own kernels by subject; each registers what it has in `library` (aten, CUDA).
class OwnKernels;
void add_factory_kernels(OwnKernels& kernels);
void add_softmax_kernels(OwnKernels& kernels);
void add_attention_kernels(OwnKernels& kernels);
void add_rnn_kernels(OwnKernels& kernels);
void add_norm_kernels(OwnKernels& kernels);

/// Registers kernels of ours for aten operators on the CUDA key.
class OwnKernels {
 public:
  /// Serve the operator `name` ("view.dtype") by `kernel`; nothing happens where this PyTorch has
  /// no such operator.
  template <typename Function>
  void add(const char* name, Function* kernel) {
    if (claim(name)) library().impl(name, kernel);
  }

 private:
  static bool claim(const char* name);
  static torch::Library& library();
};

}  // namespace simulated_cuda
