/* A libnvidia-ml.so.1 of our own for tests, driven by the file that VRAM_LENS_FAKE_NVML names, read again at each call:
 *
 *   device UUID NAME TOTAL RESERVED USED        one per device, bytes; `_` in NAME is a blank
 *   process DEVICE PID BYTES LIST               LIST: compute, graphics or mps; BYTES: a number or `na`
 *   code FUNCTION CODE                          FUNCTION answers CODE
 *   code FUNCTION DEVICE CODE                   … for one device only
 *   stride BYTES                                element size of process lists: 16, 24 (as it is) or 32
 *   hang FUNCTION                               FUNCTION sleeps for a minute
 *   abort FUNCTION                              FUNCTION aborts the process
 *
 * FUNCTION is NVML's name without `nvml`, `Device` and version: Init, Count, Handle, Name, UUID, Memory_v1, Memory_v2,
 * Processes. Numbers and codes as in nvml.h; the second version of the memory call refuses every tag but 0x02000028. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 16, MOST_PROCESSES = 256 };

struct device {
  char uuid[96], name[96];
  uint64_t total, reserved, used;
};
struct process {
  unsigned device, pid;
  uint64_t bytes;
  char list[16];
};
static struct {
  unsigned devices, processes, stride;
  struct device device[MOST];
  struct process process[MOST_PROCESSES];
} world;

/* Reads the file; answers the code that `function` is to return for `device`, 0 where the file does not say. */
static int enter(const char *function, int device) {
  const char *path = getenv("VRAM_LENS_FAKE_NVML");
  FILE *file = path ? fopen(path, "r") : NULL;
  int code = 0;
  memset(&world, 0, sizeof world);
  world.stride = 24;
  if (!file) return 9;
  char line[512], name[64], bytes[32];
  int a, b;
  while (fgets(line, sizeof line, file)) {
    struct device *d = &world.device[world.devices];
    struct process *p = &world.process[world.processes];
    if (world.devices < MOST && sscanf(line, "device %95s %95s %lu %lu %lu", d->uuid, d->name, &d->total, &d->reserved, &d->used) == 5) {
      for (char *c = d->name; *c; c++) if (*c == '_') *c = ' ';
      world.devices++;
    } else if (world.processes < MOST_PROCESSES && sscanf(line, "process %u %u %31s %15s", &p->device, &p->pid, bytes, p->list) == 4) {
      p->bytes = strcmp(bytes, "na") ? strtoull(bytes, NULL, 10) : UINT64_MAX;
      world.processes++;
    } else if (sscanf(line, "code %63s %d %d", name, &a, &b) == 3) {
      if (!strcmp(name, function) && a == device) code = b;
    } else if (sscanf(line, "code %63s %d", name, &a) == 2) {
      if (!strcmp(name, function)) code = a;
    } else if (sscanf(line, "hang %63s", name) == 1) {
      if (!strcmp(name, function)) sleep(60);
    } else if (sscanf(line, "abort %63s", name) == 1) {
      if (!strcmp(name, function)) abort();
    } else {
      sscanf(line, "stride %u", &world.stride);
    }
  }
  fclose(file);
  return code;
}

static int index_of(void *handle) { return (int)((uintptr_t)handle - 1); }

static int text(const char *from, char *to, unsigned size) {
  if (strlen(from) + 1 > size) return 7;
  strcpy(to, from);
  return 0;
}

int nvmlInit_v2(void) { return enter("Init", -1); }
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char *to, unsigned size) { return text("999.00.fake", to, size); }

int nvmlDeviceGetCount_v2(unsigned *count) {
  int code = enter("Count", -1);
  *count = world.devices;
  return code;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) {
  int code = enter("Handle", (int)index);
  if (index >= world.devices) return 2;
  *handle = (void *)(uintptr_t)(index + 1);
  return code;
}

int nvmlDeviceGetName(void *handle, char *to, unsigned size) {
  int code = enter("Name", index_of(handle));
  return code ? code : text(world.device[index_of(handle)].name, to, size);
}

int nvmlDeviceGetUUID(void *handle, char *to, unsigned size) {
  int code = enter("UUID", index_of(handle));
  return code ? code : text(world.device[index_of(handle)].uuid, to, size);
}

int nvmlDeviceGetMemoryInfo(void *handle, uint64_t *memory) {
  int code = enter("Memory_v1", index_of(handle));
  struct device *d = &world.device[index_of(handle)];
  if (code) return code;
  memory[0] = d->total;
  memory[2] = d->used + d->reserved;
  memory[1] = d->total - memory[2];
  return 0;
}

struct memory_v2 {
  uint32_t version;
  uint64_t total, reserved, free, used;
};

int nvmlDeviceGetMemoryInfo_v2(void *handle, struct memory_v2 *memory) {
  int code = enter("Memory_v2", index_of(handle));
  struct device *d = &world.device[index_of(handle)];
  if (code) return code;
  if (memory->version != 0x02000028) return 13;
  memory->total = d->total;
  memory->reserved = d->reserved;
  memory->used = d->used;
  memory->free = d->total - d->reserved - d->used;
  return 0;
}

static int processes(const char *list, void *handle, unsigned *count, unsigned char *to) {
  int code = enter("Processes", index_of(handle));
  unsigned room = *count, found = 0;
  if (code) return code;
  for (unsigned i = 0; i < world.processes; i++)
    found += world.process[i].device == (unsigned)index_of(handle) && !strcmp(world.process[i].list, list);
  *count = found;
  if (found > room) return 7;
  for (unsigned i = 0; i < world.processes; i++) {
    struct process *p = &world.process[i];
    if (p->device != (unsigned)index_of(handle) || strcmp(p->list, list)) continue;
    memset(to, 0, world.stride);
    memcpy(to, &p->pid, 4);
    memcpy(to + 8, &p->bytes, 8);
    if (world.stride > 16) memset(to + 16, 0xFF, 8); /* no MIG instance */
    to += world.stride;
  }
  return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v2(void *h, unsigned *n, unsigned char *to) { return processes("compute", h, n, to); }
int nvmlDeviceGetGraphicsRunningProcesses_v2(void *h, unsigned *n, unsigned char *to) { return processes("graphics", h, n, to); }
int nvmlDeviceGetMPSComputeRunningProcesses_v2(void *h, unsigned *n, unsigned char *to) { return processes("mps", h, n, to); }
