import * as l10n from '@vscode/l10n';
import type { LifecycleState } from '../shared/agentProtocol';
import { formatSize } from '../shared/sizes';
import type { Session } from '../sessions/session';

/** The life cycle in words (DESIGN section 1). */
export function stateWord(state: LifecycleState): string {
  switch (state) {
    case 'started':
      return l10n.t('started');
    case 'modelOnGpu':
      return l10n.t('model on GPU');
    case 'dataOnGpu':
      return l10n.t('data on GPU');
    case 'training':
      return l10n.t('training');
    case 'idle':
      return l10n.t('idle (holding)');
    case 'cleared':
      return l10n.t('cleared');
    case 'freed':
      return l10n.t('freed');
    case 'ended':
      return l10n.t('ended');
  }
}

/** The live table: one row per session and device. */
export function watchTable(sessions: readonly Session[], nowMs: number): string[] {
  if (sessions.length === 0)
    return [l10n.t('No training session yet. Start one with: vram-lens run -- python train.py')];
  const head = [
    'PID',
    l10n.t('Script'),
    l10n.t('Device'),
    l10n.t('Used'),
    l10n.t('Cached'),
    l10n.t('Reserved'),
    l10n.t('Step'),
    l10n.t('Steps/s'),
    l10n.t('State'),
  ];
  return align([head, ...sessions.flatMap((session) => rows(session, nowMs))]);
}

function rows(session: Session, nowMs: number): string[][] {
  const pace = session.stepsPerSecond(nowMs);
  return session.devices.map((device) => {
    const sample = session.exit === null ? session.samples.get(device.index) : undefined;
    const size = (bytes: number | undefined): string => (bytes === undefined ? '–' : formatSize(bytes));
    const simulated = session.hello.simulated === null ? '' : ` (${l10n.t('simulated')})`;
    return [
      String(session.pid),
      session.name,
      `${device.index} ${device.name}${simulated}`,
      size(sample?.usedBytes),
      size(sample && sample.reservedBytes - sample.usedBytes),
      size(sample?.reservedBytes),
      String(session.step),
      pace === null ? '–' : pace.toFixed(2),
      stateText(session, nowMs),
    ];
  });
}

function stateText(session: Session, nowMs: number): string {
  if (session.exit === 'killed') return l10n.t('killed');
  if (session.silentSinceMs === null) return stateWord(session.state);
  return l10n.t('no answer for {0} s', Math.round((nowMs - session.silentSinceMs) / 1000));
}

/** Columns side by side; numbers (columns 3 to 7) to the right. */
function align(table: string[][]): string[] {
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => cells(row[column]!))));
  return table.map((row) =>
    row
      .map((text, column) => {
        const fill = ' '.repeat(widths[column]! - cells(text));
        return column >= 3 && column <= 7 ? fill + text : text + fill;
      })
      .join('  ')
      .trimEnd(),
  );
}

/** Terminal cells of a text: CJK characters take two. */
function cells(text: string): number {
  let width = 0;
  for (const character of text)
    width += /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/.test(
      character,
    )
      ? 2
      : 1;
  return width;
}
