import * as vscode from 'vscode';
import { freedSentence } from '../sessions/freedSentence';
import type { Session } from '../sessions/session';
import type { SessionHub } from '../sessions/sessionHub';
import { formatSize } from '../shared/sizes';

/** How long the command waits for sessions to answer when the panel was not open before. */
const findMs = 1500;

/** Free GPU Cache from the palette: asks which session where there are several, then says what came back. */
export async function freeGpuCache(hub: SessionHub): Promise<void> {
  const watching = hub.watch();
  try {
    const live = await liveSessions(hub);
    if (live.length === 0) {
      void vscode.window.showInformationMessage(vscode.l10n.t('No training session is running with the memory agent.'));
      return;
    }
    const session = live.length === 1 ? live[0] : await pick(live);
    if (session !== undefined) await freeSession(hub, session);
  } finally {
    watching.dispose();
  }
}

/** Frees one session's cache with a progress note, then shows the result. */
export async function freeSession(hub: SessionHub, session: Session): Promise<void> {
  const watching = hub.watch();
  try {
    const title = vscode.l10n.t('Freeing the GPU cache of {0} at the end of this step…', session.name);
    const result = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, () =>
      hub.freeCache(session),
    );
    const sentence = freedSentence(result, (message, ...args) => vscode.l10n.t(message, ...args));
    void (result.done ? vscode.window.showInformationMessage(sentence) : vscode.window.showWarningMessage(sentence));
  } finally {
    watching.dispose();
  }
}

async function liveSessions(hub: SessionHub): Promise<Session[]> {
  await hub.settled(findMs);
  return hub.sessions.filter((session) => session.exit === null);
}

async function pick(sessions: Session[]): Promise<Session | undefined> {
  const items = sessions.map((session) => ({
    label: session.name,
    description: vscode.l10n.t('PID {0}', session.pid),
    detail: vscode.l10n.t('{0} can be returned', formatSize(session.sums().releasableBytes)),
    session,
  }));
  const placeHolder = vscode.l10n.t('Free the GPU cache of which session?');
  return (await vscode.window.showQuickPick(items, { placeHolder }))?.session;
}
