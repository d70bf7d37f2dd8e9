/**
 * The probe's child process (`dist/probe.js`): the only place that loads the addon, because NVML can hang for ever or
 * crash the process that holds it. It answers readings until its parent goes.
 */
import path from 'node:path';
import type { ChildAnswer, NativeReading, ReadRequest } from './childMessages';

interface Addon {
  Probe: new (library: string | null) => { read(withProcesses: boolean): Promise<NativeReading> };
}

let probe: InstanceType<Addon['Probe']> | null = null;

/** NVML is loaded at the first reading. */
function opened(): InstanceType<Addon['Probe']> {
  if (probe === null) {
    const file = path.join(__dirname, '..', 'build', 'Release', 'gpu_probe.node');
    const holder: { exports: unknown } = { exports: {} };
    process.dlopen(holder as NodeJS.Module, file);
    probe = new (holder.exports as Addon).Probe(process.env['VRAM_LENS_NVML'] ?? null);
  }
  return probe;
}

async function answer(request: ReadRequest): Promise<ChildAnswer> {
  try {
    return { id: request.id, reading: await opened().read(request.withProcesses) };
  } catch (error) {
    return { id: request.id, failure: error instanceof Error ? error.message : String(error) };
  }
}

process.on('message', (request: ReadRequest) => {
  void answer(request).then((message) => process.send?.(message));
});
// The parent is gone: exit at once, a hanging driver call must not keep this process.
process.on('disconnect', () => process.exit(0));
