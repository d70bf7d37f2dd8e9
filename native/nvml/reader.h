// All that the probe asks of NVML: is the driver there, and what do its devices hold.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nvml/memory.h"
#include "nvml/processes.h"

namespace nvml {

struct DeviceReading {
  /// Identity, `GPU-…`; absent when the device could not even be opened.
  Field<std::string> uuid;
  Field<std::string> name;
  Memory memory;
  Field<std::vector<Process>> processes;
};

struct Reading {
  /// NVML's code for the driver as a whole; kLibraryNotFound is ours.
  int code;
  Field<std::string> version;
  std::vector<DeviceReading> devices;
};

/// Reads the driver. NVML is initialised at the first reading and shut down with the reader.
class Reader {
 public:
  explicit Reader(std::vector<std::string> candidates) : candidates_(std::move(candidates)) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { close(); }

  /// Blocks for as long as the driver does. One device's failure never hides another.
  Reading read(bool with_processes);
  void close();

 private:
  int open();
  DeviceReading read_device(unsigned index, bool with_processes) const;

  std::vector<std::string> candidates_;
  std::unique_ptr<Library> library_;
  bool initialised_ = false;
};

}  // namespace nvml
