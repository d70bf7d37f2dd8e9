#include "device.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <atomic>
#include <map>
#include <memory>
#include <unordered_map>

#include "cublas_workspace.h"

namespace simulated_cuda {

namespace {

/// Host memory that is, or may become, a storage of a device.
struct Birth {
  size_t bytes;
  int device;
  uint64_t serial;
  bool born;  // false: obtained by a kernel that still runs, or that failed
  Address address;
};

struct SimulatedDevice {
  SimulatedDevice(int index, size_t total_bytes) : model(index, total_bytes) {}
  CachingAllocator model;
  std::map<StreamId, Address> cublas_workspaces;
  int64_t temporaries = 0;
};

struct State {
  std::mutex mutex;
  std::vector<std::unique_ptr<SimulatedDevice>> devices;
  std::unordered_map<void*, Birth> births;
  std::map<const char*, size_t> pinned;  // address and size
  uint64_t next_serial = 1;
  c10::Allocator* host = nullptr;
};

// Never destroyed: a tensor's deleter may run after static destructors.
State& state() {
  static auto* the_state = new State;
  return *the_state;
}

std::atomic<int> number_of_devices{0};
thread_local int current_index = 0;
thread_local OperatorScope* current_scope = nullptr;

c10::DataPtr host_data(void* data, c10::DeleterFnPtr deleter) {
  return {data, data, deleter, c10::Device(c10::kCPU)};
}

/// The deleter of all memory that the allocators below hand out. It looks `data` up instead of
/// taking a context of its own because Allocator::raw_allocate wants data and context equal.
/// Also frees what the host allocator handed out before ours was in its place.
void free_storage(void* data) {
  State& s = state();
  {
    const std::lock_guard<std::mutex> lock(s.mutex);
    const auto found = s.births.find(data);
    if (found != s.births.end()) {
      SimulatedDevice& device = *s.devices[static_cast<size_t>(found->second.device)];
      if (found->second.born) {
        device.model.free(found->second.address);
      } else {
        device.temporaries += 1;
      }
      s.births.erase(found);
    }
  }
  s.host->raw_deallocate(data);
}

/// A storage that is on device `index` from the start.
c10::DataPtr allocate_storage(size_t bytes, int index) {
  if (bytes == 0) return host_data(nullptr, &free_storage);
  const auto allocate = [&](CachingAllocator& model) { return model.allocate(bytes, 0); };
  const Address address = with_allocator(index, allocate);
  State& s = state();
  void* data = nullptr;
  try {
    data = s.host->raw_allocate(bytes);
  } catch (...) {  // the host has not got what the device would have
    const std::lock_guard<std::mutex> lock(s.mutex);
    allocator_model(index).free(address);
    throw;
  }
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.births[data] = Birth{bytes, index, s.next_serial++, true, address};
  return host_data(data, &free_storage);
}

/// Memory for a CPU kernel that runs on behalf of a device.
c10::DataPtr allocate_undecided(size_t bytes, OperatorScope& scope) {
  if (bytes == 0) return host_data(nullptr, &free_storage);
  // A result larger than the whole device: say so before the host is exhausted. (The model can
  // only throw here.)
  with_allocator(scope.device(), [&](CachingAllocator& model) {
    if (bytes > model.total_bytes()) model.allocate(bytes, 0);
  });
  State& s = state();
  void* data = s.host->raw_allocate(bytes);
  const std::lock_guard<std::mutex> lock(s.mutex);
  const uint64_t serial = s.next_serial++;
  s.births[data] = Birth{bytes, scope.device(), serial, false, 0};
  scope.add(data, serial);
  return host_data(data, &free_storage);
}

/// Carried by storages, so that `resize_` and the like allocate on the storage's own device.
class StorageAllocator final : public c10::Allocator {
 public:
  explicit StorageAllocator(int index) : index_(index) {}
  c10::DataPtr allocate(size_t bytes) override { return allocate_storage(bytes, index_); }
  c10::DeleterFnPtr raw_deleter() const override { return &free_storage; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
  int index() const { return index_; }

 private:
  const int index_;
};

std::vector<std::unique_ptr<StorageAllocator>>& storage_allocators() {
  static auto* allocators = new std::vector<std::unique_ptr<StorageAllocator>>;
  return *allocators;
}

c10::CachingAllocator::Stat to_torch(const Stat& stat) {
  return {stat.current, stat.peak, stat.allocated, stat.freed};
}

c10::CachingAllocator::StatArray to_torch(const StatFamily& family) {
  // In the order of c10::CachingAllocator::StatType.
  return {to_torch(family.all), to_torch(family.small_pool), to_torch(family.large_pool)};
}

/// What c10::GetAllocator(kCUDA) answers: the current device's memory, and torch.accelerator's
/// door to the statistics.
class CurrentDeviceAllocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override { return allocate_storage(bytes, current_index); }
  c10::DeleterFnPtr raw_deleter() const override { return &free_storage; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
  bool initialized() override { return device_count() > 0; }
  void emptyCache(c10::MempoolId_t) override { empty_caches(); }
  // One stream: nothing is ever waited for.
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex index) override {
    return with_allocator(index, [](CachingAllocator& model) {
      const Statistics& from = model.statistics();
      c10::CachingDeviceAllocator::DeviceStats to;
      to.allocation = to_torch(from.allocation);
      to.segment = to_torch(from.segment);
      to.active = to_torch(from.active);
      to.inactive_split = to_torch(from.inactive_split);
      to.allocated_bytes = to_torch(from.allocated_bytes);
      to.reserved_bytes = to_torch(from.reserved_bytes);
      to.active_bytes = to_torch(from.active_bytes);
      to.inactive_split_bytes = to_torch(from.inactive_split_bytes);
      to.requested_bytes = to_torch(from.requested_bytes);
      to.num_alloc_retries = from.num_alloc_retries;
      to.num_ooms = from.num_ooms;
      to.num_sync_all_streams = from.num_sync_all_streams;
      to.num_device_alloc = from.num_device_alloc;
      to.num_device_free = from.num_device_free;
      to.max_split_size = -1;
      return to;
    });
  }
  void resetAccumulatedStats(c10::DeviceIndex index) override {
    with_allocator(index, [](CachingAllocator& model) { model.reset_accumulated(); });
  }
  void resetPeakStats(c10::DeviceIndex index) override {
    with_allocator(index, [](CachingAllocator& model) { model.reset_peaks(); });
  }
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex index) override {
    return with_allocator(index, [](CachingAllocator& model) {
      return std::make_pair(model.free_bytes(), model.total_bytes());
    });
  }
};

/// The CPU allocator: within an operator that runs for a device its memory is undecided, else it
/// is the host's as before.
class HostAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (current_scope == nullptr) return state().host->allocate(bytes);
    return allocate_undecided(bytes, *current_scope);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_storage; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

void free_pinned(void* data) {
  State& s = state();
  {
    const std::lock_guard<std::mutex> lock(s.mutex);
    s.pinned.erase(static_cast<const char*>(data));
  }
  s.host->raw_deallocate(data);
}

class PinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    State& s = state();
    void* data = s.host->raw_allocate(bytes);
    if (data != nullptr) {
      const std::lock_guard<std::mutex> lock(s.mutex);
      s.pinned[static_cast<const char*>(data)] = bytes;
    }
    return host_data(data, &free_pinned);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_pinned; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

}  // namespace

std::mutex& devices_mutex() { return state().mutex; }

CachingAllocator& allocator_model(int index) {
  return state().devices[static_cast<size_t>(index)]->model;
}

void create_devices(const std::vector<int64_t>& total_bytes) {
  State& s = state();
  for (size_t i = 0; i < total_bytes.size(); i++) {
    const int index = static_cast<int>(i);
    s.devices.push_back(
        std::make_unique<SimulatedDevice>(index, static_cast<size_t>(total_bytes[i])));
    storage_allocators().push_back(std::make_unique<StorageAllocator>(index));
  }
  number_of_devices = static_cast<int>(total_bytes.size());

  // 255: the highest priority, so that no later SetAllocator of a library takes it back.
  static auto* device = new CurrentDeviceAllocator;
  c10::SetAllocator(c10::kCUDA, device, 255);
  s.host = c10::GetCPUAllocator();
  static auto* host = new HostAllocator;
  c10::SetCPUAllocator(host, 255);
}

int device_count() noexcept { return number_of_devices; }
int current_device() noexcept { return current_index; }

void check_device(int index) {
  // The words and the error code (cudaErrorInvalidDevice) of a card.
  if (index < 0 || index >= device_count()) {
    throw c10::AcceleratorError({__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, 101,
                                "CUDA error: invalid device ordinal");
  }
}

void set_current_device(int index) {
  check_device(index);
  current_index = index;
}

void set_current_device_unchecked(int index) noexcept {
  if (index >= 0 && index < device_count()) current_index = index;
}

c10::Allocator* device_allocator(int index) {
  return storage_allocators()[static_cast<size_t>(index)].get();
}

c10::Allocator* pinned_allocator() {
  static auto* allocator = new PinnedAllocator;
  return allocator;
}

bool is_pinned(const void* data) {
  State& s = state();
  const auto* at = static_cast<const char*>(data);
  const std::lock_guard<std::mutex> lock(s.mutex);
  auto after = s.pinned.upper_bound(at);
  if (after == s.pinned.begin()) return false;
  --after;
  return at < after->first + after->second;
}

int device_of_storage(const c10::DataPtr& data, const c10::Allocator* allocator) {
  if (data.get_deleter() == &free_storage && data.get() != nullptr) {
    State& s = state();
    const std::lock_guard<std::mutex> lock(s.mutex);
    const auto found = s.births.find(data.get_context());
    return found == s.births.end() ? -1 : found->second.device;
  }
  // An empty storage has no memory; its allocator still tells.
  for (const auto& own : storage_allocators()) {
    if (own.get() == allocator) return own->index();
  }
  return -1;
}

void ensure_cublas_workspace(int index, StreamId stream) {
  static const size_t bytes = cublas_workspace_bytes();
  with_allocator(index, [&](CachingAllocator& model) {
    auto& workspaces = state().devices[static_cast<size_t>(index)]->cublas_workspaces;
    if (workspaces.count(stream) == 0) workspaces[stream] = model.allocate(bytes, stream);
  });
}

void clear_cublas_workspaces() {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  for (auto& device : s.devices) {
    for (const auto& [stream, address] : device->cublas_workspaces) device->model.free(address);
    device->cublas_workspaces.clear();
  }
}

void empty_caches() {
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  for (auto& device : s.devices) device->model.empty_cache();
}

int64_t temporary_count(int index) {
  check_device(index);
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  return s.devices[static_cast<size_t>(index)]->temporaries;
}

OperatorScope::OperatorScope(int device) : device_(device), outer_(current_scope) {
  current_scope = this;
}

OperatorScope::~OperatorScope() { current_scope = outer_; }

void OperatorScope::finish() {
  const auto give_birth = [&](CachingAllocator& model) {
    State& s = state();
    for (const Undecided& candidate : undecided_) {
      const auto found = s.births.find(candidate.data);
      if (found == s.births.end() || found->second.serial != candidate.serial) continue;
      found->second.address = model.allocate(found->second.bytes, 0);
      found->second.born = true;
    }
  };
  with_allocator(device_, give_birth);
  undecided_.clear();
}

}  // namespace simulated_cuda
