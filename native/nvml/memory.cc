#include "nvml/memory.h"

namespace nvml {

namespace {

Memory absent(Absence absence) { return {absence, absence, absence, absence}; }

/// Unified memory (GB10, Jetson) answers with zeros: there is no memory of the device's own to count.
bool is_unified(uint64_t total) { return total == 0; }

}  // namespace

Memory read_memory(const Library& library, DeviceHandle device) {
  int code = kFunctionNotFound;
  if (library.memory_v2 != nullptr) {
    MemoryV2 memory{};
    memory.version = kMemoryV2Tag;
    code = library.memory_v2(device, &memory);
    if (code == kSuccess) {
      if (is_unified(memory.total)) return absent(Absence::kNotSupported);
      return {bytes_field(memory.total), bytes_field(memory.used), bytes_field(memory.free), bytes_field(memory.reserved)};
    }
    if (code == kGpuIsLost) return absent(Absence::kGpuLost);
  }
  // Version 2 can fail where version 1 answers (WSL: 999 with the right tag).
  if (library.memory_v1 != nullptr) {
    MemoryV1 memory{};
    code = library.memory_v1(device, &memory);
    if (code == kSuccess) {
      if (is_unified(memory.total)) return absent(Absence::kNotSupported);
      return {bytes_field(memory.total), bytes_field(memory.used), bytes_field(memory.free), Absence::kNotSupported};
    }
  }
  return absent(absence_of(code));
}

}  // namespace nvml
