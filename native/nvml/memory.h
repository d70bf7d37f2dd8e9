// A device's memory as the driver counts it.
#pragma once

#include "nvml/field.h"
#include "nvml/library.h"

namespace nvml {

/// Bytes. Where only version 1 answers, `reserved` is absent and `used` includes it.
struct Memory {
  Field<uint64_t> total;
  Field<uint64_t> used;
  Field<uint64_t> free;
  Field<uint64_t> reserved;
};

/// Never throws; each figure fails alone.
Memory read_memory(const Library& library, DeviceHandle device);

}  // namespace nvml
