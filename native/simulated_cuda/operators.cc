#include "operators.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "redirect.h"

namespace simulated_cuda {

namespace {

/// Drops warnings while it lives: replacing a kernel of a CUDA build is said to be one each time.
class QuietRegistration {
 public:
  QuietRegistration() : guard_(&handler_) {}

 private:
  struct Silent final : c10::WarningHandler {
    void process(const c10::Warning&) override {}
  };
  Silent handler_;
  c10::WarningUtils::WarningHandlerGuard guard_;
};

/// The library that holds our kernels of one namespace; lives as long as the process.
torch::Library& library_of(const std::string& name_space) {
  static auto* libraries = new std::unordered_map<std::string, torch::Library*>;
  auto& library = (*libraries)[name_space];
  if (library == nullptr) {
    library = new torch::Library(torch::Library::IMPL, name_space, c10::DispatchKey::CUDA, __FILE__,
                                 __LINE__);
  }
  return *library;
}

std::string full_name(const c10::OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

std::unordered_set<std::string>& claimed_operators() {
  static auto* names = new std::unordered_set<std::string>;
  return *names;
}

/// Composite operators that are redirected whole, although their parts would be too.
bool is_redirected_whole(const std::string& full_name) {
  // These make a tensor from a storage and would take the device from it, which says CPU.
  static const std::unordered_set<std::string> names{
      "aten::_unsafe_view", "aten::view.dtype",
      // The choice of a convolution's implementation by device leads to kernels only CUDA has.
      "aten::convolution", "aten::convolution_backward"};
  // One redirect per list instead of one per tensor.
  constexpr const char* kForeach = "aten::_foreach_";
  return names.count(full_name) != 0 || full_name.rfind(kForeach, 0) == 0;
}

/// The composite implementation, on the CUDA tensors themselves: a backend key without kernels of
/// its own resolves to it.
void run_composite(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::FPGA), stack);
}

void refuse(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack*) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "Simulated GPU: the operator ", op.schema().name(),
                              " has no CPU kernel and is not simulated.");
}

/// For operators registered later, by libraries or torch.library.
void redirect_or_refuse(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                        torch::jit::Stack* stack) {
  if (op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU)) {
    redirect(op, keys, stack);
  } else {
    refuse(op, keys, stack);
  }
}

bool has_composite(const c10::OperatorHandle& op) {
  using Key = c10::DispatchKey;
  return op.hasKernelForDispatchKey(Key::CompositeExplicitAutograd) ||
         op.hasKernelForDispatchKey(Key::CompositeExplicitAutogradNonFunctional) ||
         op.hasKernelForDispatchKey(Key::CompositeImplicitAutograd);
}

}  // namespace

bool OwnKernels::claim(const char* name) {
  const std::string text(name);
  const size_t dot = text.find('.');
  const std::string overload = dot == std::string::npos ? "" : text.substr(dot + 1);
  if (!c10::Dispatcher::singleton().findSchema({"aten::" + text.substr(0, dot), overload})) {
    return false;
  }
  claimed_operators().insert("aten::" + text);
  return true;
}

torch::Library& OwnKernels::library() { return library_of("aten"); }

int register_operators() {
  const QuietRegistration quiet;
  auto& dispatcher = c10::Dispatcher::singleton();
  int added = 0;
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findOp(name);
    if (!op || !op->hasSchema()) continue;
    const std::string full = full_name(name);
    const bool on_cpu =
        op->hasKernelForDispatchKey(c10::DispatchKey::CPU) || is_redirected_whole(full);
    const bool on_cuda = op->hasKernelForDispatchKey(c10::DispatchKey::CUDA);
    if (!on_cpu && !on_cuda) continue;
    if (!claimed_operators().insert(full).second) continue;

    const size_t colons = full.find("::");
    torch::Library& library = library_of(full.substr(0, colons));
    const char* local_name = full.c_str() + colons + 2;
    if (on_cpu) {
      library.impl(local_name, torch::CppFunction::makeFromBoxedFunction<&redirect>());
    } else if (has_composite(*op)) {
      library.impl(local_name, torch::CppFunction::makeFromBoxedFunction<&run_composite>());
    } else {
      library.impl(local_name, torch::CppFunction::makeFromBoxedFunction<&refuse>());
    }
    added += 1;
  }
  return added;
}

void install_operators() {
  {
    const QuietRegistration quiet;
    OwnKernels kernels;
    add_factory_kernels(kernels);
    add_softmax_kernels(kernels);
    add_attention_kernels(kernels);
    add_rnn_kernels(kernels);
    add_norm_kernels(kernels);
    library_of("_").fallback(torch::CppFunction::makeFromBoxedFunction<&redirect_or_refuse>());
  }
  register_operators();
}

}  // namespace simulated_cuda
