// Which processes hold memory on a device.
#pragma once

#include <vector>

#include "nvml/field.h"
#include "nvml/library.h"

namespace nvml {

struct Process {
  /// As the driver counts PIDs, which in a container may not be as the container does.
  uint32_t pid;
  /// Bytes; absent under Windows and WSL.
  Field<uint64_t> used;
};

/// The compute, graphics and MPS lists as one, each PID once. Absent when no list answers.
Field<std::vector<Process>> read_processes(const Library& library, DeviceHandle device);

}  // namespace nvml
