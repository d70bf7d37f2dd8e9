#include "redirect.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/SmallVector.h>

#include <unordered_set>

#include "backend.h"
#include "cublas_workspace.h"
#include "device.h"

namespace simulated_cuda {

namespace {

/// Opens TensorImpl's protected device, which has no setter.
struct DeviceSetter : c10::TensorImpl {
  static void set(c10::TensorImpl* tensor, c10::Device device) {
    static_cast<DeviceSetter*>(tensor)->device_opt_ = device;
  }
};

void change_backend(c10::TensorImpl* tensor, c10::Device device) {
  tensor->_change_backend_component_keys(device);
  DeviceSetter::set(tensor, device);
}

/// A CUDA tensor among the arguments and the CPU tensor that stands for it.
struct Substitution {
  at::Tensor original;
  at::Tensor alias;
};

/// Operators that take CPU tensors of any size beside CUDA tensors: copies, and index tensors.
bool may_mix_devices(const std::string& name) {
  static const std::unordered_set<std::string> names{"aten::copy_",  "aten::index",
                                                     "aten::set_",   "aten::index_put_",
                                                     "aten::_index_put_impl_"};
  return names.count(name) != 0;
}

/// One call of one operator: its arguments are translated, then its results.
class RedirectedCall {
 public:
  RedirectedCall(const c10::OperatorHandle& op, torch::jit::Stack& stack)
      : schema_(op.schema()), stack_(stack), mixing_allowed_(may_mix_devices(schema_.name())) {}

  void translate_arguments() {
    const auto& arguments = schema_.arguments();
    const size_t first = stack_.size() - arguments.size();
    for (size_t i = 0; i < arguments.size(); i++) {
      translate_argument(stack_[first + i], arguments[i].name());
    }
    if (device_ < 0) device_ = current_device();
    check_device(device_);
    TORCH_CHECK(!(has_host_tensor_ && !substitutions_.empty()) || mixing_allowed_,
                "Expected all tensors to be on the same device, but found at least two devices, "
                "cuda:", device_, " and cpu! (when checking arguments of ", schema_.name(), ")");
    if (missing_generator_ != nullptr) {
      *missing_generator_ = c10::IValue(host_generator(default_generator(device_)));
    }
  }

  void translate_results() {
    const size_t results = schema_.returns().size();
    for (size_t i = stack_.size() - results; i < stack_.size(); i++) {
      c10::IValue& value = stack_[i];
      if (value.isTensor()) {
        value = to_result(value.toTensor());
      } else if (value.isTensorList()) {
        auto tensors = value.toTensorVector();
        for (auto& tensor : tensors) tensor = to_result(tensor);
        value = c10::IValue(std::move(tensors));
      }
    }
    for (const Substitution& substitution : substitutions_) copy_back_metadata(substitution);
  }

  int device() const { return device_; }
  bool has_empty_argument() const { return has_empty_argument_; }

 private:
  void translate_argument(c10::IValue& value, const std::string& name) {
    if (value.isTensor()) {
      value = to_argument(value.toTensor());
    } else if (value.isTensorList()) {
      auto tensors = value.toTensorVector();
      for (auto& tensor : tensors) tensor = to_argument(tensor);
      value = c10::IValue(std::move(tensors));
    } else if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> translated;
      for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
        translated.push_back(tensor ? std::optional<at::Tensor>(to_argument(*tensor)) : tensor);
      }
      value = c10::IValue(std::move(translated));
    } else if (value.isDevice()) {
      const c10::Device device = value.toDevice();
      if (device.is_cuda()) {
        device_ = device.has_index() ? device.index() : current_device();
        value = c10::IValue(c10::Device(c10::kCPU));
      }
    } else if (value.isGenerator()) {
      const at::Generator generator = value.toGenerator();
      if (generator.device().is_cuda()) value = c10::IValue(host_generator(generator));
    } else if (value.isNone() && name == "generator") {
      missing_generator_ = &value;
    } else if (value.isBool() && name == "pin_memory") {
      value = c10::IValue(false);
    }
  }

  at::Tensor to_argument(const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    if (!tensor.is_cuda()) {
      if (tensor.is_cpu() && tensor.dim() > 0) has_host_tensor_ = true;
      return tensor;
    }
    const int device = tensor.device().index();
    if (device_ < 0) device_ = device;
    // A 0-dim tensor of another device is a scalar to a CUDA kernel too.
    TORCH_CHECK(device == device_ || tensor.dim() == 0 || schema_.name() == "aten::copy_",
                "Expected all tensors to be on the same device, but found at least two devices, "
                "cuda:", device_, " and cuda:", device, "! (when checking arguments of ",
                schema_.name(), ")");
    has_empty_argument_ |= tensor.numel() == 0;
    // The same tensor twice must stay the same tensor: kernels compare them.
    for (const Substitution& known : substitutions_) {
      if (known.original.is_same(tensor)) return known.alias;
    }
    substitutions_.push_back({tensor, host_alias(tensor)});
    return substitutions_.back().alias;
  }

  at::Tensor to_result(const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.is_cpu()) return tensor;
    for (const Substitution& known : substitutions_) {
      if (known.alias.is_same(tensor)) return known.original;  // in-place and out= operators
    }
    move_to_device(tensor, device_);
    return tensor;
  }

  /// resize_, set_ and out= change a tensor's storage and sizes: so must the original's.
  static void copy_back_metadata(const Substitution& substitution) {
    auto* original = substitution.original.unsafeGetTensorImpl();
    auto* alias = substitution.alias.unsafeGetTensorImpl();
    if (original->has_storage() && alias->has_storage() &&
        !original->unsafe_storage().is_alias_of(alias->unsafe_storage())) {
      const c10::Device device = original->device();
      original->set_storage_keep_dtype(alias->unsafe_storage());
      DeviceSetter::set(original, device);  // set_storage takes the storage's, which says CPU
    }
    if (original->sizes() != alias->sizes() || original->strides() != alias->strides() ||
        original->storage_offset() != alias->storage_offset()) {
      original->set_sizes_and_strides(alias->sizes(), alias->strides(), alias->storage_offset());
    }
  }

  const c10::FunctionSchema& schema_;
  torch::jit::Stack& stack_;
  const bool mixing_allowed_;
  c10::SmallVector<Substitution, 6> substitutions_;
  int device_ = -1;
  bool has_host_tensor_ = false;
  bool has_empty_argument_ = false;
  c10::IValue* missing_generator_ = nullptr;
};

}  // namespace

at::Tensor host_alias(const at::Tensor& tensor) {
  auto* original = tensor.unsafeGetTensorImpl();
  auto alias = original->shallow_copy_and_detach(original->version_counter(),
                                                 /*allow_tensor_metadata_change=*/true);
  change_backend(alias.get(), c10::Device(c10::kCPU));
  return at::Tensor(std::move(alias));
}

void move_to_device(const at::Tensor& tensor, int device) {
  if (!tensor.defined()) return;
  auto* impl = tensor.unsafeGetTensorImpl();
  change_backend(impl, c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(device)));
  if (impl->has_storage()) {
    impl->unsafe_storage().unsafeGetStorageImpl()->set_allocator(device_allocator(device));
  }
}

void redirect(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  RedirectedCall call(op, *stack);
  call.translate_arguments();
  {
    OperatorScope scope(call.device());
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
    call.translate_results();
    scope.finish();
  }
  if (!call.has_empty_argument() && is_cublas_product(op.schema().name())) {
    ensure_cublas_workspace(call.device(), /*stream=*/0);
  }
}

}  // namespace simulated_cuda
