// The NVML library of the installed driver, loaded at run time and never linked: its absence is a normal state.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nvml/abi.h"

namespace nvml {

/// Where to look for the library, best first. Absolute where that is known: a name alone may find NVIDIA's link stub.
/// Sources: facts/monitors.md section 3.1.
std::vector<std::string> library_candidates();

/// The loaded library. Symbols that a driver lacks are null.
class Library {
 public:
  /// Loads the first candidate that loads; null when none does.
  static std::unique_ptr<Library> open(const std::vector<std::string>& candidates);

  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  InitFn init = nullptr;
  ShutdownFn shutdown = nullptr;
  DriverVersionFn driver_version = nullptr;
  CountFn count = nullptr;
  HandleFn handle = nullptr;
  TextFn name = nullptr;
  TextFn uuid = nullptr;
  MemoryV1Fn memory_v1 = nullptr;
  MemoryV2Fn memory_v2 = nullptr;
  /// Compute, graphics and MPS lists, of those that there are.
  std::vector<ProcessesFn> process_lists;

 private:
  explicit Library(void* module);
  void* symbol(const char* name) const;

  void* module_;
};

}  // namespace nvml
