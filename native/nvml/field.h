// Results as values: a figure, or the reason why there is none. Nothing here throws.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "nvml/abi.h"

namespace nvml {

enum class Absence { kNotSupported, kNoPermission, kGpuLost, kUnknown };

/// The name used in the probe's messages and in `vram-lens devices`.
inline const char* name_of(Absence absence) {
  switch (absence) {
    case Absence::kNotSupported:
      return "notSupported";
    case Absence::kNoPermission:
      return "noPermission";
    case Absence::kGpuLost:
      return "gpuLost";
    case Absence::kUnknown:
      break;
  }
  return "unknown";
}

inline Absence absence_of(int code) {
  switch (code) {
    case kNotSupported:
    case kFunctionNotFound:
      return Absence::kNotSupported;
    case kNoPermission:
      return Absence::kNoPermission;
    case kGpuIsLost:
      return Absence::kGpuLost;
    default:
      return Absence::kUnknown;
  }
}

template <typename T>
class Field {
 public:
  Field() : value_(Absence::kUnknown) {}
  Field(T value) : value_(std::move(value)) {}  // NOLINT: a value is a field
  Field(Absence absence) : value_(absence) {}   // NOLINT

  const T* value() const { return std::get_if<T>(&value_); }
  /// Only where value() is null.
  Absence absence() const { return *std::get_if<Absence>(&value_); }

 private:
  std::variant<T, Absence> value_;
};

/// Bytes from the driver. No card has a pebibyte: a figure beyond 2^50 is a sentinel of some layer, not a size.
inline Field<uint64_t> bytes_field(uint64_t bytes) {
  if (bytes == kValueNotAvailable) return Absence::kNotSupported;
  if (bytes > (uint64_t{1} << 50)) return Absence::kUnknown;
  return bytes;
}

}  // namespace nvml
