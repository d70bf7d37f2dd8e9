#include "nvml/processes.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace nvml {

namespace {

constexpr unsigned char kUntouched = 0xAA;
constexpr size_t kLargestElement = 32;
constexpr unsigned kFirstCapacity = 32;
constexpr unsigned kMostProcesses = 1 << 16;

/// Bytes per element, from how far the driver wrote. The same symbol has had 16, 24 and 32 in different drivers
/// (facts/monitors.md section 3.4); a wrong one shows garbage from the second process on.
size_t element_size(const std::vector<unsigned char>& buffer, unsigned count) {
  size_t written = buffer.size();
  while (written > 0 && buffer[written - 1] == kUntouched) written--;
  for (const size_t size : {size_t{16}, size_t{24}}) {
    if (written <= count * size) return size;
  }
  return kLargestElement;
}

/// One list into `found`; its code. The list may grow between two calls, so a too small buffer is made larger and asked again.
int read_list(ProcessesFn list, DeviceHandle device, std::map<uint32_t, Field<uint64_t>>& found) {
  std::vector<unsigned char> buffer;
  for (unsigned capacity = kFirstCapacity; capacity <= kMostProcesses;) {
    // Larger than any layout needs: a driver that writes larger elements than we know stays inside.
    buffer.assign(capacity * kLargestElement + 64, kUntouched);
    unsigned count = capacity;
    const int code = list(device, &count, buffer.data());
    if (code == kInsufficientSize) {
      capacity = std::max(count, capacity) * 2 + 5;
      continue;
    }
    if (code != kSuccess) return code;
    count = std::min(count, capacity);
    const size_t size = element_size(buffer, count);
    for (unsigned i = 0; i < count; i++) {
      uint32_t pid;
      uint64_t used;
      std::memcpy(&pid, &buffer[i * size], sizeof pid);
      std::memcpy(&used, &buffer[i * size + 8], sizeof used);
      const Field<uint64_t> bytes = bytes_field(used);
      const auto [place, isNew] = found.try_emplace(pid, bytes);
      if (isNew || bytes.value() == nullptr) continue;
      // The same memory in two lists counts once.
      const uint64_t* before = place->second.value();
      if (before == nullptr || *before < *bytes.value()) place->second = bytes;
    }
    return kSuccess;
  }
  return kInsufficientSize;
}

}  // namespace

Field<std::vector<Process>> read_processes(const Library& library, DeviceHandle device) {
  std::map<uint32_t, Field<uint64_t>> found;
  int failure = kFunctionNotFound;
  bool answered = false;
  for (const auto list : library.process_lists) {
    const int code = read_list(list, device, found);
    if (code == kSuccess) answered = true;
    else failure = code;
  }
  if (!answered) return absence_of(failure);
  std::vector<Process> processes;
  for (auto& [pid, used] : found) processes.push_back({pid, used});
  return processes;
}

}  // namespace nvml
