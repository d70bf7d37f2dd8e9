import { access } from 'node:fs/promises';
import type { DriverView } from '../shared/panelProtocol';

/**
 * The traces an NVIDIA driver leaves on Linux, and under WSL, where there is no kernel module. Not /dev/nvidiactl: NVML
 * itself makes it as root where there is no driver (facts/monitors.md section 3.2).
 */
const tracesOnLinux = ['/proc/driver/nvidia/version', '/usr/lib/wsl/lib/libnvidia-ml.so.1'];
const tracesOnWindows = ['C:\\Windows\\System32\\nvml.dll'];

/**
 * Whether an NVIDIA driver is there at all, without loading anything of it. "unknown" means there is one and nobody
 * has asked it yet.
 */
export async function lookForDriver(traces = tracesHere()): Promise<DriverView> {
  const found = await Promise.all(traces.map(exists));
  return { state: found.includes(true) ? 'unknown' : 'absent', lookedFor: traces };
}

function tracesHere(): string[] {
  if (process.platform === 'win32') return tracesOnWindows;
  return process.platform === 'linux' ? tracesOnLinux : [];
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch {
    return false;
  }
}
