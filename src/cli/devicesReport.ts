import * as l10n from '@vscode/l10n';
import { known, type Absent, type DriverReading, type Known } from '../shared/driverReading';
import { formatSize } from '../shared/sizes';

/** What the driver's state means and what to do, in one sentence. */
export function driverMessage({ state, code }: DriverReading['driver']): string {
  switch (state) {
    case 'ok':
      return l10n.t('The NVIDIA driver answers.');
    case 'absent':
      return l10n.t(
        'There is no NVIDIA driver on this machine. Try a script without a GPU: vram-lens simulate train.py',
      );
    case 'mismatch':
      return l10n.t(
        'The NVIDIA driver was updated while it was in use: restart the machine, or reload the kernel module.',
      );
    case 'notAnswering':
      return l10n.t('The NVIDIA driver did not answer within 5 seconds, or its library crashed. Try again later.');
    case 'unknown':
      return code === null
        ? l10n.t('The GPU probe could not be loaded; the driver was not asked.')
        : l10n.t('The NVIDIA driver refuses to answer (NVML code {0}).', code);
  }
}

/** The object CLI.md fixes. */
export function devicesObject(reading: DriverReading, sessions: ReadonlySet<number>): Record<string, unknown> {
  const { state, version } = reading.driver;
  return {
    driver: { state, message: driverMessage(reading.driver), version },
    devices: reading.devices.map((device) => ({
      ...device,
      processes: Array.isArray(device.processes)
        ? device.processes.map((process) => ({ ...process, session: sessions.has(process.pid) }))
        : device.processes,
    })),
  };
}

/** For people: a line per device and per process. */
export function devicesText(reading: DriverReading, sessions: ReadonlySet<number>): string[] {
  if (reading.devices.length === 0) return [l10n.t('The NVIDIA driver names no device.')];
  return reading.devices.flatMap((device, index) => {
    const name = known(device.name) ?? absentWord(device.name as Absent);
    const lines = [
      `${index}  ${name}  ${known(device.uuid) ?? ''}`.trimEnd(),
      '   ' +
        l10n.t(
          '{0} used, {1} free, {2} driver reserved, {3} in total',
          size(device.usedBytes),
          size(device.freeBytes),
          size(device.driverReservedBytes),
          size(device.totalBytes),
        ),
    ];
    if (!Array.isArray(device.processes)) return lines;
    return lines.concat(
      device.processes.map((process) => {
        const words = process.gone
          ? l10n.t('held by a process that is gone')
          : [process.name ?? '', process.user ?? '', sessions.has(process.pid) ? l10n.t('session') : '']
              .filter(Boolean)
              .join('  ');
        return `   ${String(process.pid).padStart(8)}  ${size(process.usedBytes).padStart(11)}  ${words}`;
      }),
    );
  });
}

function size(bytes: Known<number>): string {
  return typeof bytes === 'number' ? formatSize(bytes) : absentWord(bytes);
}

function absentWord({ absent }: Absent): string {
  switch (absent) {
    case 'notSupported':
      return l10n.t('not said');
    case 'noPermission':
      return l10n.t('no permission');
    case 'gpuLost':
      return l10n.t('GPU is lost');
    case 'unknown':
      return l10n.t('unknown');
  }
}
