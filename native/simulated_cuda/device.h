// The simulated devices: which there are, which is current, and every storage's birth and death.
//
// A storage of a simulated device is host memory. Its DataPtr says "CPU" and only the TensorImpl
// says "CUDA": views that CPU kernels make inside an operator would otherwise be CUDA tensors that
// no kernel takes. Each such storage has a twin in the device's CachingAllocator.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "caching_allocator.h"

namespace simulated_cuda {

/// Create the devices and take over the allocators of kCUDA and kCPU. Once per process.
void create_devices(const std::vector<int64_t>& total_bytes);

int device_count() noexcept;
/// The calling thread's current device.
int current_device() noexcept;
/// Make `index` the calling thread's current device. Throws as CUDA does for a bad ordinal.
void set_current_device(int index);
/// As set_current_device; a bad ordinal is ignored.
void set_current_device_unchecked(int index) noexcept;
/// Throw CUDA's error for a device that does not exist.
void check_device(int index);

/// The allocator that storages of device `index` carry, so that they grow on their own device.
c10::Allocator* device_allocator(int index);
/// The allocator of pinned host memory.
c10::Allocator* pinned_allocator();
/// Is `data` inside a pinned allocation?
bool is_pinned(const void* data);
/// The device of a storage by its DataPtr and allocator; -1 for host memory.
int device_of_storage(const c10::DataPtr& data, const c10::Allocator* allocator);

/// Guards all models and the table of storages. Never held while Python or PyTorch code runs.
std::mutex& devices_mutex();
/// The model of device `index`, which must exist; hold devices_mutex().
CachingAllocator& allocator_model(int index);

/// Run `action` with the model of device `index` while no other thread changes it, and answer
/// what it answers. OutOfMemory becomes c10::OutOfMemoryError.
template <typename Action>
auto with_allocator(int index, Action action) {
  check_device(index);
  try {
    const std::lock_guard<std::mutex> lock(devices_mutex());
    return action(allocator_model(index));
  } catch (const OutOfMemory& error) {
    C10_THROW_ERROR(OutOfMemoryError, error.what());
  }
}

/// Reserve the cuBLAS workspace of (device, stream) if it has none yet. May throw out of memory.
void ensure_cublas_workspace(int index, StreamId stream);
/// Free all cuBLAS workspaces (torch._C._cuda_clearCublasWorkspaces).
void clear_cublas_workspaces();

/// Return every segment without a live block to the driver, on all devices.
void empty_caches();

/// How many allocations CPU kernels made and freed within one operator: host memory that a CUDA
/// kernel would not take, or would take as scratch. Not part of the device's memory.
int64_t temporary_count(int index);

/// The span of one operator that runs as a CPU kernel on behalf of a device.
///
/// Memory the kernel obtains from the CPU allocator is undecided at first: freed before the
/// operator ends it was a temporary, alive at its end it is a result and is born on the device.
class OperatorScope {
 public:
  explicit OperatorScope(int device);
  /// What is still undecided (the operator failed) stays out of the device's memory.
  ~OperatorScope();
  OperatorScope(const OperatorScope&) = delete;
  OperatorScope& operator=(const OperatorScope&) = delete;

  /// The operator ended: everything still alive is born. Throws c10::OutOfMemoryError when the
  /// device cannot hold it; what was not born then never counts.
  void finish();

  int device() const { return device_; }
  /// Note host memory that the running kernel obtained.
  void add(void* data, uint64_t serial) { undecided_.push_back({data, serial}); }

 private:
  struct Undecided {
    void* data;
    uint64_t serial;  // tells a later allocation at the same place apart
  };
  const int device_;
  OperatorScope* const outer_;
  std::vector<Undecided> undecided_;
};

}  // namespace simulated_cuda
