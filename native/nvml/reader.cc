#include "nvml/reader.h"

#include <algorithm>

namespace nvml {

namespace {

Field<std::string> read_text(TextFn function, DeviceHandle device) {
  if (function == nullptr) return Absence::kNotSupported;
  char text[kTextSize + 1] = {};
  const int code = function(device, text, kTextSize);
  if (code != kSuccess) return absence_of(code);
  return std::string(text);
}

}  // namespace

int Reader::open() {
  if (initialised_) return kSuccess;
  if (library_ == nullptr) library_ = Library::open(candidates_);
  if (library_ == nullptr) return kLibraryNotFound;
  if (library_->init == nullptr || library_->count == nullptr || library_->handle == nullptr) return kFunctionNotFound;
  const int code = library_->init();
  initialised_ = code == kSuccess;
  return code;
}

void Reader::close() {
  if (initialised_ && library_->shutdown != nullptr) library_->shutdown();
  initialised_ = false;
}

Reading Reader::read(bool with_processes) {
  Reading reading{open(), Absence::kUnknown, {}};
  if (reading.code != kSuccess) return reading;
  if (library_->driver_version != nullptr) {
    char text[kTextSize + 1] = {};
    if (library_->driver_version(text, kTextSize) == kSuccess) reading.version = std::string(text);
  }
  unsigned count = 0;
  reading.code = library_->count(&count);
  if (reading.code != kSuccess) {
    // Uninitialised, or the driver was replaced under us: begin anew at the next reading.
    close();
    return reading;
  }
  // NVML_MAX_DEVICES is 64; a garbled count must not keep us here.
  for (unsigned index = 0; index < std::min(count, 64u); index++)
    reading.devices.push_back(read_device(index, with_processes));
  return reading;
}

DeviceReading Reader::read_device(unsigned index, bool with_processes) const {
  // Asked anew each time: a handle kept over a reset or an unplugging crashes some drivers.
  DeviceHandle device = nullptr;
  const int code = library_->handle(index, &device);
  if (code != kSuccess) {
    const Absence why = absence_of(code);
    return {why, why, {why, why, why, why}, why};
  }
  DeviceReading reading{read_text(library_->uuid, device), read_text(library_->name, device),
                        read_memory(*library_, device), Absence::kUnknown};
  if (with_processes) reading.processes = read_processes(*library_, device);
  return reading;
}

}  // namespace nvml
