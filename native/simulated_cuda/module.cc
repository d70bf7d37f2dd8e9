// The Python module simulated_cuda.
//
// Compiled at first use by src/simulator for the user's own torch: every *.cc file here with
// -std=c++20 (torch >= 2.12; c++17 before), linked with c10, torch_cpu, torch and torch_python.
#include <pybind11/stl.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/device_lazy_init.h>
#include <torch/csrc/utils/pybind.h>

#include "backend.h"
#include "device.h"
#include "operators.h"

namespace simulated_cuda {

namespace {

namespace py = pybind11;

/// Turn this process into one with `total_bytes.size()` simulated devices. Once per process.
void install(const std::vector<int64_t>& total_bytes) {
  TORCH_CHECK(device_count() == 0, "The simulated GPU is installed already.");
  TORCH_CHECK(!total_bytes.empty() && total_bytes.size() <= 16,
              "The number of simulated GPUs must be between 1 and 16.");
  for (const int64_t bytes : total_bytes) {
    TORCH_CHECK(bytes > 0, "A simulated GPU needs a positive amount of memory.");
  }
  create_devices(total_bytes);
  install_backend();
  install_operators();
}

py::dict to_python(const Stat& stat) {
  py::dict dict;
  dict["current"] = stat.current;
  dict["peak"] = stat.peak;
  dict["allocated"] = stat.allocated;
  dict["freed"] = stat.freed;
  return dict;
}

py::dict to_python(const StatFamily& family) {
  py::dict dict;
  dict["all"] = to_python(family.all);
  dict["small_pool"] = to_python(family.small_pool);
  dict["large_pool"] = to_python(family.large_pool);
  return dict;
}

/// The dict of torch._C._cuda_memoryStats (torch/csrc/cuda/Module.cpp).
py::dict memory_stats(int device) {
  const Statistics stats =
      with_allocator(device, [](CachingAllocator& model) { return model.statistics(); });
  py::dict dict;
  dict["num_alloc_retries"] = stats.num_alloc_retries;
  dict["num_ooms"] = stats.num_ooms;
  dict["max_split_size"] = -1;  // unlimited: PyTorch's default
  dict["num_sync_all_streams"] = stats.num_sync_all_streams;
  dict["num_device_alloc"] = stats.num_device_alloc;
  dict["num_device_free"] = stats.num_device_free;
  dict["allocation"] = to_python(stats.allocation);
  dict["segment"] = to_python(stats.segment);
  dict["active"] = to_python(stats.active);
  dict["inactive_split"] = to_python(stats.inactive_split);
  dict["allocated_bytes"] = to_python(stats.allocated_bytes);
  dict["reserved_bytes"] = to_python(stats.reserved_bytes);
  dict["active_bytes"] = to_python(stats.active_bytes);
  dict["inactive_split_bytes"] = to_python(stats.inactive_split_bytes);
  dict["requested_bytes"] = to_python(stats.requested_bytes);
  // Blocks from max_split_size on: without such a limit there are none.
  dict["oversize_allocations"] = to_python(Stat{});
  dict["oversize_segments"] = to_python(Stat{});
  return dict;
}

/// The segments of torch.cuda.memory_snapshot(), without stacks. Addresses are the model's own,
/// not those of Tensor.data_ptr().
py::list segments(int device) {
  const auto all = with_allocator(device, [](CachingAllocator& model) { return model.segments(); });
  py::list result;
  for (const SegmentInfo& segment : all) {
    py::list blocks;
    for (const BlockInfo& block : segment.blocks) {
      py::dict entry;
      entry["address"] = block.address;
      entry["size"] = block.size;
      entry["requested_size"] = block.requested_size;
      entry["state"] = block.allocated ? "active_allocated" : "inactive";
      entry["frames"] = py::list();
      blocks.append(std::move(entry));
    }
    py::dict entry;
    entry["device"] = device;
    entry["address"] = segment.address;
    entry["total_size"] = segment.total_size;
    entry["allocated_size"] = segment.allocated_size;
    entry["active_size"] = segment.allocated_size;
    entry["requested_size"] = segment.requested_size;
    entry["stream"] = segment.stream;
    entry["segment_type"] = segment.pool == PoolKind::kSmall ? "small" : "large";
    entry["segment_pool_id"] = py::make_tuple(0, 0);
    entry["is_expandable"] = false;
    entry["frames"] = py::list();
    entry["blocks"] = std::move(blocks);
    result.append(std::move(entry));
  }
  return result;
}

int storage_device(const at::Tensor& tensor) {
  if (!tensor.has_storage()) return -1;
  const c10::Storage& storage = tensor.storage();
  return device_of_storage(storage.data_ptr(), storage.allocator());
}

}  // namespace

}  // namespace simulated_cuda

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  using namespace simulated_cuda;
  namespace py = pybind11;
  // torch's own translation: OutOfMemoryError, AcceleratorError and the like keep their types.
  py::register_local_exception_translator([](std::exception_ptr error) {
    if (!error) return;
    try {
      std::rethrow_exception(error);
    } catch (const c10::Error&) {
      torch::translate_exception_to_python(error);
    }
  });

  module.doc() = "A simulated CUDA device: CPU kernels, and a model of the caching allocator.";
  module.def("install", &install, py::arg("total_bytes"));
  module.def("rescan", &register_operators);
  module.def("is_cuda_build", &is_cuda_build);
  // C++ remembers that it has initialised CUDA and does not ask torch.cuda._lazy_init again; a forked child must.
  module.def("require_initialisation", [] { torch::utils::set_requires_device_init(at::kCUDA, true); });
  module.def("device_count", &device_count);
  module.def("get_device", &current_device);
  module.def("set_device", &set_current_device);

  module.def("memory_stats", &memory_stats);
  module.def("reset_peak_memory_stats", [](int device) {
    with_allocator(device, [](CachingAllocator& model) { model.reset_peaks(); });
  });
  module.def("reset_accumulated_memory_stats", [](int device) {
    with_allocator(device, [](CachingAllocator& model) { model.reset_accumulated(); });
  });
  module.def("empty_cache", &empty_caches);
  module.def("mem_get_info", [](int device) {
    return with_allocator(device, [](CachingAllocator& model) {
      return std::make_pair(model.free_bytes(), model.total_bytes());
    });
  });
  module.def("set_memory_fraction", [](int device, double fraction) {
    with_allocator(device, [&](CachingAllocator& model) { model.set_memory_fraction(fraction); });
  });
  module.def("clear_cublas_workspaces", &clear_cublas_workspaces);
  module.def("segments", &segments);
  module.def("temporaries", &temporary_count);

  module.def("default_generator", [](int device) {
    check_device(device);
    return default_generator(device);
  });
  module.def("storage_device", &storage_device);
}
