#include "nvml/library.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#include <sys/stat.h>
#endif

#include <type_traits>

namespace nvml {

#ifdef _WIN32

namespace {

std::string environment(const char* name) {
  char buffer[MAX_PATH];
  const DWORD size = GetEnvironmentVariableA(name, buffer, sizeof buffer);
  return size == 0 || size >= sizeof buffer ? std::string() : std::string(buffer, size);
}

}  // namespace

std::vector<std::string> library_candidates() {
  std::vector<std::string> paths;
  if (const auto root = environment("SystemRoot"); !root.empty()) paths.push_back(root + "\\System32\\nvml.dll");
  // Drivers before about 461.55.
  if (const auto programs = environment("ProgramFiles"); !programs.empty())
    paths.push_back(programs + "\\NVIDIA Corporation\\NVSMI\\nvml.dll");
  return paths;
}

static void* load(const std::string& path) { return LoadLibraryA(path.c_str()); }
static void unload(void* module) { FreeLibrary(static_cast<HMODULE>(module)); }
void* Library::symbol(const char* name) const {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(module_), name));
}

#else

std::vector<std::string> library_candidates() {
  std::vector<std::string> paths;
  struct stat status;
  // Under WSL the linker's cache may name a library of a distribution package that does not work there.
  if (stat("/dev/dxg", &status) == 0) paths.emplace_back("/usr/lib/wsl/lib/libnvidia-ml.so.1");
  // The unversioned name is a development link, or NVIDIA's stub that reports nothing.
  paths.emplace_back("libnvidia-ml.so.1");
  paths.emplace_back("/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1");
  paths.emplace_back("/run/opengl-driver/lib/libnvidia-ml.so.1");
  return paths;
}

static void* load(const std::string& path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }
static void unload(void* module) { dlclose(module); }
void* Library::symbol(const char* name) const { return dlsym(module_, name); }

#endif

std::unique_ptr<Library> Library::open(const std::vector<std::string>& candidates) {
  for (const auto& path : candidates) {
    if (void* module = load(path)) return std::unique_ptr<Library>(new Library(module));
  }
  return nullptr;
}

Library::Library(void* module) : module_(module) {
  const auto find = [this](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol(name));
  };
  // The unversioned names of these are version 1 with other rules (one bad GPU fails them all).
  find(init, "nvmlInit_v2");
  find(count, "nvmlDeviceGetCount_v2");
  find(handle, "nvmlDeviceGetHandleByIndex_v2");
  find(shutdown, "nvmlShutdown");
  find(driver_version, "nvmlSystemGetDriverVersion");
  find(name, "nvmlDeviceGetName");
  find(uuid, "nvmlDeviceGetUUID");
  find(memory_v1, "nvmlDeviceGetMemoryInfo");
  find(memory_v2, "nvmlDeviceGetMemoryInfo_v2");
  // _v2 first: its elements have 24 bytes in every driver that has it; _v3 has had 24 and 32.
  for (const std::string kind : {"Compute", "Graphics", "MPSCompute"}) {
    for (const char* version : {"_v2", "_v3", ""}) {
      ProcessesFn function = nullptr;
      find(function, ("nvmlDeviceGet" + kind + "RunningProcesses" + version).c_str());
      if (function == nullptr) continue;
      process_lists.push_back(function);
      break;
    }
  }
}

Library::~Library() { unload(module_); }

}  // namespace nvml
