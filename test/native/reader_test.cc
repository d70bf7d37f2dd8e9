// The reader against our own libnvidia-ml: compiled with sanitizers and run by reader.test.ts with the library's path.
// Each function of this file writes what the driver is to answer, reads, and compares. T-numbers: facts/monitors.md section 4.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "nvml/reader.h"

namespace {

int failures = 0;
int checks = 0;
std::string library;
const char* file = nullptr;

void expect(bool right, const char* what, int line) {
  checks++;
  if (right) return;
  failures++;
  std::printf("line %d: %s\n", line, what);
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

const char* const kCard = "device GPU-a Card 1000 100 300\n";

void say(const std::string& text) { std::ofstream(file) << text; }

nvml::Reading read(bool with_processes = true) {
  nvml::Reader reader({library});
  return reader.read(with_processes);
}

bool is(const nvml::Field<uint64_t>& field, uint64_t value) { return field.value() != nullptr && *field.value() == value; }
template <typename T>
bool absent(const nvml::Field<T>& field, nvml::Absence why) {
  return field.value() == nullptr && field.absence() == why;
}

void memory_by_version_2() {  // T1, T2
  say(kCard);
  const auto reading = read();
  EXPECT(reading.code == 0 && reading.devices.size() == 1);
  EXPECT(*reading.version.value() == "999.00.fake");
  const auto& memory = reading.devices[0].memory;
  EXPECT(is(memory.total, 1000) && is(memory.reserved, 100) && is(memory.used, 300) && is(memory.free, 600));
}

void memory_by_version_1() {  // version 2 fails with the right tag, as under WSL
  say(std::string(kCard) + "code Memory_v2 999\n");
  const auto reading = read();
  const auto& memory = reading.devices[0].memory;
  EXPECT(is(memory.used, 400) && is(memory.free, 600));
  EXPECT(absent(memory.reserved, nvml::Absence::kNotSupported));
}

void no_memory_figures() {  // T8, T10
  say(std::string(kCard) + "code Memory_v2 3\ncode Memory_v1 3\n");
  auto reading = read();
  EXPECT(absent(reading.devices[0].memory.total, nvml::Absence::kNotSupported));
  say("device GPU-a Card 0 0 0\n");
  reading = read();
  EXPECT(absent(reading.devices[0].memory.total, nvml::Absence::kNotSupported));
}

void one_lost_device() {  // T6, T7
  say(std::string(kCard) + "device GPU-b Other 2000 0 0\ncode Handle 0 15\n");
  auto reading = read();
  EXPECT(reading.devices.size() == 2);
  EXPECT(absent(reading.devices[0].uuid, nvml::Absence::kGpuLost));
  EXPECT(is(reading.devices[1].memory.total, 2000));
  say(std::string(kCard) + "device GPU-b Other 2000 0 0\ncode Memory_v2 0 15\n");
  reading = read();
  EXPECT(absent(reading.devices[0].memory.used, nvml::Absence::kGpuLost));
  EXPECT(is(reading.devices[1].memory.total, 2000));
}

void strides_of_process_lists() {  // T4
  for (const int stride : {16, 24, 32}) {
    say(std::string(kCard) + "stride " + std::to_string(stride) +
        "\nprocess 0 11 100 compute\nprocess 0 22 200 compute\nprocess 0 33 300 compute\n");
    const auto reading = read();
    const auto* processes = reading.devices[0].processes.value();
    EXPECT(processes != nullptr && processes->size() == 3);
    if (processes == nullptr || processes->size() != 3) continue;
    EXPECT((*processes)[1].pid == 22 && is((*processes)[1].used, 200));
    EXPECT((*processes)[2].pid == 33 && is((*processes)[2].used, 300));
  }
}

void one_process_in_three_lists() {  // T13, T3, T31
  say(std::string(kCard) +
      "process 0 11 100 compute\nprocess 0 11 100 graphics\nprocess 0 11 na mps\nprocess 0 12 na graphics\nprocess 0 13 0 mps\n");
  const auto reading = read();
  const auto* processes = reading.devices[0].processes.value();
  EXPECT(processes != nullptr && processes->size() == 3);
  if (processes == nullptr || processes->size() != 3) return;
  EXPECT(is((*processes)[0].used, 100));
  EXPECT(absent((*processes)[1].used, nvml::Absence::kNotSupported));
  EXPECT(is((*processes)[2].used, 0));
}

void many_processes() {  // T15: more than fit at first
  std::string text = kCard;
  for (int pid = 1; pid <= 200; pid++) text += "process 0 " + std::to_string(pid) + " 1 compute\n";
  say(text);
  const auto reading = read();
  EXPECT(reading.devices[0].processes.value() != nullptr && reading.devices[0].processes.value()->size() == 200);
}

void a_list_without_permission() {
  say(std::string(kCard) + "code Processes 4\n");
  const auto reading = read();
  EXPECT(absent(reading.devices[0].processes, nvml::Absence::kNoPermission));
  EXPECT(is(reading.devices[0].memory.used, 300));
  EXPECT(absent(read(false).devices[0].processes, nvml::Absence::kUnknown));
}

void drivers_that_refuse() {  // T12, T33
  say("code Init 9\n");
  EXPECT(read().code == nvml::kDriverNotLoaded);
  say("code Init 18\n");
  EXPECT(read().code == nvml::kLibRmVersionMismatch);
  nvml::Reader none({"/nowhere/libnvidia-ml.so.1"});
  EXPECT(none.read(true).code == nvml::kLibraryNotFound);
}

void devices_come_and_go() {  // T20
  nvml::Reader reader({library});
  say(std::string(kCard) + "device GPU-b Other 2000 0 0\n");
  EXPECT(reader.read(true).devices.size() == 2);
  say(kCard);
  EXPECT(reader.read(true).devices.size() == 1);
  say("code Count 999\n");
  EXPECT(reader.read(true).code == 999);
  say(kCard);
  EXPECT(reader.read(true).devices.size() == 1);
}

void nothing_is_leaked() {  // T23
  nvml::Reader reader({library});
  say(std::string(kCard) + "process 0 11 100 compute\n");
  for (int i = 0; i < 2000; i++) EXPECT(reader.read(true).devices.size() == 1);
}

}  // namespace

int main(int argc, char** argv) {
  file = std::getenv("VRAM_LENS_FAKE_NVML");
  if (argc != 2 || file == nullptr) return 2;
  library = argv[1];
  memory_by_version_2();
  memory_by_version_1();
  no_memory_figures();
  one_lost_device();
  strides_of_process_lists();
  one_process_in_three_lists();
  many_processes();
  a_list_without_permission();
  drivers_that_refuse();
  devices_come_and_go();
  nothing_is_leaked();
  std::printf("%d checks, %d failed\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
