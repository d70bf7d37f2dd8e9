// NVML's binary interface, as far as the probe uses it. Layouts and codes: nvml.h of drivers 390 to 550
// (facts/monitors.md section 3.3); they are a promise of the driver, so they are written out here and no CUDA header is needed.
#pragma once

#include <cstdint>

namespace nvml {

/// Opaque handle; valid until the last shutdown.
using DeviceHandle = void*;

enum Code : int {
  kSuccess = 0,
  kNotSupported = 3,
  kNoPermission = 4,
  kNotFound = 6,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kGpuIsLost = 15,
  kLibRmVersionMismatch = 18,
};

/// What the driver writes where it has no figure.
inline constexpr uint64_t kValueNotAvailable = UINT64_MAX;

/// nvmlMemory_t, bytes. `used` includes what the driver keeps for itself.
struct MemoryV1 {
  uint64_t total;
  uint64_t free;
  uint64_t used;
};
static_assert(sizeof(MemoryV1) == 24);

/// nvmlMemory_v2_t, bytes. `used` does not include `reserved`.
struct MemoryV2 {
  uint32_t version;
  uint64_t total;
  uint64_t reserved;
  uint64_t free;
  uint64_t used;
};
static_assert(sizeof(MemoryV2) == 40);

/// Size of the structure, and version 2 in the highest byte; any other tag is refused with kFunctionNotFound.
inline constexpr uint32_t kMemoryV2Tag = sizeof(MemoryV2) | (2u << 24);
static_assert(kMemoryV2Tag == 0x02000028);

/// NVML_DEVICE_NAME_V2_BUFFER_SIZE and NVML_DEVICE_UUID_V2_BUFFER_SIZE.
inline constexpr unsigned kTextSize = 96;

using InitFn = int (*)();
using ShutdownFn = int (*)();
using DriverVersionFn = int (*)(char*, unsigned);
using CountFn = int (*)(unsigned*);
using HandleFn = int (*)(unsigned, DeviceHandle*);
using TextFn = int (*)(DeviceHandle, char*, unsigned);
using MemoryV1Fn = int (*)(DeviceHandle, MemoryV1*);
using MemoryV2Fn = int (*)(DeviceHandle, MemoryV2*);
/// The list's element size depends on the driver, not on the symbol's version: see processes.cc.
using ProcessesFn = int (*)(DeviceHandle, unsigned*, void*);

}  // namespace nvml
