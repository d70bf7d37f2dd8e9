import * as l10n from '@vscode/l10n';
import { agentEnvironment } from '../sessions/environment';
import { descendsFrom } from '../sessions/processTable';
import { formatSize } from '../shared/sizes';
import { deviceSizes, parse } from './arguments';
import { startChild } from './childProcess';
import { openHub } from './client';
import { PeakWatch } from './peakWatch';
import { UsageError } from './usageError';

/** After the command's end its last messages are still on their way to us. */
const lastMessagesMs = 100;

/** `vram-lens run`: the command's exit code, or its signal, becomes ours. */
export async function runCommand(args: string[], home: string): Promise<number> {
  const split = args.indexOf('--');
  const command = split < 0 ? [] : args.slice(split + 1);
  const { values, positionals } = parse(split < 0 ? args : args.slice(0, split), {
    simulate: { type: 'string' },
    quiet: { type: 'boolean' },
  });
  if (positionals.length > 0 || command.length === 0) {
    throw new UsageError(l10n.t('Bad arguments: write the command after --, as in: vram-lens run -- python train.py'));
  }
  const sizes = deviceSizes(values.simulate, '--simulate');
  const env = { ...process.env, ...agentEnvironment(process.env, { home, simulate: sizes?.join(',') ?? null }) };

  const child = await startChild(command, env, 'inherit');
  const hub = openHub(10, (pid) => descendsFrom(pid, child.pid));
  const peaks = new PeakWatch(hub);
  const watching = hub.watch();
  const { code, signal } = await child.ended;
  if (values.quiet !== true) {
    await new Promise((resolve) => setTimeout(resolve, lastMessagesMs));
    process.stderr.write(`vram-lens: ${summary(peaks)}\n`);
  }
  watching.dispose();
  if (signal === null) return code ?? 0;
  // Whoever started us sees what it would have seen of the command itself.
  process.kill(process.pid, signal);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return 1;
}

function summary(peaks: PeakWatch): string {
  if (peaks.sessions === 0) return l10n.t('saw no session that used a GPU through PyTorch.');
  const used = formatSize(peaks.peakUsedBytes);
  const reserved = formatSize(peaks.peakReservedBytes);
  const simulated = peaks.simulated ? ` (${l10n.t('simulated')})` : '';
  return peaks.sessions === 1
    ? l10n.t('peak used {0}, peak reserved {1}, {2} steps', used, reserved, peaks.steps) + simulated
    : l10n.t(
        '{0} sessions, the largest: peak used {1}, peak reserved {2}, {3} steps',
        peaks.sessions,
        used,
        reserved,
        peaks.steps,
      ) + simulated;
}
