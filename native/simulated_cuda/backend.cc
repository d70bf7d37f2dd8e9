#include "backend.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/GeneratorImpl.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "device.h"

namespace simulated_cuda {

namespace {

c10::Device cuda(int index) { return {c10::kCUDA, static_cast<c10::DeviceIndex>(index)}; }

/// A device's generator: a CPU generator under a CUDA device's name.
class Generator final : public c10::GeneratorImpl {
 public:
  Generator(c10::Device device, at::Generator host)
      : GeneratorImpl(device, c10::DispatchKeySet(c10::DispatchKey::CUDA)), host(std::move(host)) {}

  void set_current_seed(uint64_t seed) override { host.set_current_seed(seed); }
  uint64_t current_seed() const override { return host.current_seed(); }
  uint64_t seed() override { return host.seed(); }
  // The Philox offset of a card's generator; the CPU's Mersenne twister has none.
  void set_offset(uint64_t) override {}
  uint64_t get_offset() const override { return 0; }
  void set_state(const c10::TensorImpl& state) override {
    host.unsafeGetGeneratorImpl()->set_state(state);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return host.unsafeGetGeneratorImpl()->get_state();
  }

  at::Generator host;

 private:
  GeneratorImpl* clone_impl() const override { return new Generator(device(), host.clone()); }
};

at::Generator new_generator(int index) {
  return at::make_generator<Generator>(cuda(index),
                                       at::detail::createCPUGenerator(c10::default_rng_seed_val));
}

c10::DeviceIndex exchange_device(c10::DeviceIndex index) {
  const auto before = static_cast<c10::DeviceIndex>(current_device());
  if (index >= 0) set_current_device(index);
  return before;
}

// Work on the simulated device is done when the call returns, so every stream is idle and an
// event has happened when it was recorded.
class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return c10::kCUDA; }
  c10::Device getDevice() const override { return cuda(current_device()); }
  c10::Device exchangeDevice(c10::Device device) const override {
    return cuda(exchange_device(device.index()));
  }
  void setDevice(c10::Device device) const override { exchange_device(device.index()); }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    set_current_device_unchecked(device.index());
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    return static_cast<c10::DeviceIndex>(device_count());
  }

  c10::Stream getStream(c10::Device device) const override { return default_stream(device); }
  c10::Stream getDefaultStream(c10::Device device) const override { return default_stream(device); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return default_stream(device);
  }
  c10::Stream getNewStream(c10::Device device, int) const override {
    return default_stream(device);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return default_stream(stream.device());
  }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeDevice(c10::DeviceIndex) const override {}
  bool isStreamCapturing(const c10::Stream&) const override { return false; }
  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}

  using Clock = std::chrono::steady_clock;
  void record(void** event, const c10::Stream&, const c10::DeviceIndex,
              const c10::EventFlag) const override {
    if (*event == nullptr) *event = new Clock::time_point;
    *static_cast<Clock::time_point*>(*event) = Clock::now();
  }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override {
    delete static_cast<Clock::time_point*>(event);
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override {}
  double elapsedTime(void* start, void* end, const c10::DeviceIndex) const override {
    const auto span = *static_cast<Clock::time_point*>(end) - *static_cast<Clock::time_point*>(start);
    return std::chrono::duration<double, std::milli>(span).count();
  }

 private:
  static c10::Stream default_stream(c10::Device device) {
    return c10::Stream(c10::Stream::DEFAULT,
                       device.has_index() ? device : cuda(current_device()));
  }
};

class Hooks final : public at::CUDAHooksInterface {
 public:
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return device_count() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  // Libraries whose kernels have no CPU counterpart: PyTorch then takes its own operators.
  bool hasCuDNN() const override { return false; }
  bool compiledWithCuDNN() const override { return false; }
  bool hasMAGMA() const override { return false; }

  c10::DeviceIndex deviceCount() const override {
    return static_cast<c10::DeviceIndex>(device_count());
  }
  int getNumGPUs() const override { return device_count(); }
  c10::DeviceIndex current_device() const override { return getCurrentDevice(); }
  c10::DeviceIndex getCurrentDevice() const override {
    return static_cast<c10::DeviceIndex>(simulated_cuda::current_device());
  }
  void setCurrentDevice(c10::DeviceIndex index) const override { set_current_device(index); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override {
    return exchange_device(index);
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex index) const override {
    return exchange_device(index);
  }
  void deviceSynchronize(c10::DeviceIndex) const override {}

  at::Allocator* getCUDADeviceAllocator() const override { return c10::GetAllocator(c10::kCUDA); }
  at::Allocator* getPinnedMemoryAllocator() const override { return pinned_allocator(); }
  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  c10::Device getDeviceFromPtr(void*) const override { return cuda(getCurrentDevice()); }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex index) const override {
    const int device = index < 0 ? getCurrentDevice() : index;
    check_device(device);
    return default_generator(device);
  }
  at::Generator getNewGenerator(c10::DeviceIndex index) const override {
    const int device = index < 0 ? getCurrentDevice() : index;
    check_device(device);
    return new_generator(device);
  }
  std::string showConfig() const override { return "simulated CUDA device\n"; }
};

bool cuda_build = false;

// at::detail::getCUDAHooks() answers one object for ever, made at its first call: PyTorch's own on
// a CUDA build (where registering a second one would abort), or a base-class object where somebody
// asked before us. That object then gets our virtual functions. Neither class has data, so
// exchanging the pointer to the table is all there is to it.
static_assert(sizeof(Hooks) == sizeof(void*) && sizeof(at::CUDAHooksInterface) == sizeof(void*),
              "the hooks have data members now: replacing the virtual table no longer suffices");

void install_hooks() {
  auto* registry = at::CUDAHooksRegistry();
  cuda_build = registry->Has("CUDAHooks");
  if (!cuda_build) {
    registry->Register("CUDAHooks",
                       [](at::CUDAHooksArgs) { return std::unique_ptr<at::CUDAHooksInterface>(new Hooks); });
  }
  static Hooks ours;
  auto** current = reinterpret_cast<void**>(
      const_cast<at::CUDAHooksInterface*>(&at::detail::getCUDAHooks()));
  auto** wanted = reinterpret_cast<void**>(static_cast<at::CUDAHooksInterface*>(&ours));
  if (*current != *wanted) *current = *wanted;
}

}  // namespace

void install_backend() {
  static Guard guard;
  c10::impl::device_guard_impl_registry[static_cast<size_t>(c10::kCUDA)].store(&guard);
  install_hooks();
}

bool is_cuda_build() noexcept { return cuda_build; }

const at::Generator& default_generator(int index) {
  static auto* generators = [] {
    auto* all = new std::vector<at::Generator>;
    for (int i = 0; i < device_count(); i++) all->push_back(new_generator(i));
    return all;
  }();
  return (*generators)[static_cast<size_t>(index)];
}

const at::Generator& host_generator(const at::Generator& generator) {
  return static_cast<Generator*>(generator.unsafeGetGeneratorImpl())->host;
}

}  // namespace simulated_cuda
