import * as vscode from 'vscode';
import { lookForDriver } from '../../probe/driverPresence';
import { DriverWatch } from '../../probe/driverWatch';
import type { ProbeClient } from '../../probe/probeClient';
import type { DeviceBoard } from '../../sessions/deviceBoard';
import type { SessionHub } from '../../sessions/sessionHub';
import type { DriverReading } from '../../shared/driverReading';
import { commandIds } from '../../shared/manifest';
import { isFromPanel, type DriverView, type FromPanel } from '../../shared/panelProtocol';
import { panelStrings, type PanelStrings } from '../../shared/panelStrings';
import { freeSession } from '../freeCacheCommand';
import { pageHtml } from './pageHtml';
import { PanelFeed } from './panelFeed';

/** The webview view "GPU Memory": a page while it is visible, nothing while it is not. */
export class PanelView {
  private feed: PanelFeed | null = null;
  private readonly driver: DriverWatch;
  private lookedFor: string[] = [];

  constructor(
    private readonly assets: vscode.Uri,
    private readonly hub: SessionHub,
    private readonly board: DeviceBoard,
    probe: ProbeClient,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.driver = new DriverWatch(probe, () => this.feed?.touch());
  }

  async resolve(view: vscode.WebviewView): Promise<void> {
    view.webview.options = { enableScripts: true, localResourceRoots: [this.assets] };
    this.lookedFor = (await lookForDriver()).lookedFor;
    view.webview.onDidReceiveMessage((message: unknown) => {
      if (isFromPanel(message)) this.answer(view, message).catch((error: unknown) => this.report(error));
      else this.log.warn('The panel sent a message that is not in the protocol; ignored.');
    });
    view.onDidChangeVisibility(() => {
      // A page that was hidden is built anew when it is shown and says "ready" again.
      if (!view.visible) this.stop();
    });
    view.onDidDispose(() => this.stop());
    view.webview.html = pageHtml(view.webview, this.assets);
  }

  private stop(): void {
    this.driver.stop();
    this.feed?.dispose();
    this.feed = null;
  }

  private async answer(view: vscode.WebviewView, message: FromPanel): Promise<void> {
    switch (message.type) {
      case 'ready':
        this.start(view);
        return;
      case 'watch':
        this.feed?.show(message.deviceKey, message.spanS);
        return;
      case 'freeCache': {
        const session = this.hub.session(message.sessionKey);
        if (session !== undefined && !session.freeing) await freeSession(this.hub, session);
        return;
      }
      case 'dismissFreed': {
        const session = this.hub.session(message.sessionKey);
        if (session !== undefined) session.freed = null;
        this.feed?.touch();
        return;
      }
      case 'openScript': {
        const script = this.hub.session(message.sessionKey)?.scriptPath;
        if (script) await vscode.window.showTextDocument(vscode.Uri.file(script));
        return;
      }
      case 'runWithAgent':
        await vscode.commands.executeCommand(commandIds.runWithAgent);
        return;
      case 'runSimulated':
        await vscode.commands.executeCommand(commandIds.runSimulated);
        return;
      case 'checkDriver':
        // At once, without what is left of a back-off.
        this.driver.stop();
        this.driver.start();
        return;
      case 'showLog':
        this.log.show();
    }
  }

  private start(view: vscode.WebviewView): void {
    this.stop();
    const page = {
      locale: vscode.env.language,
      strings: translated(),
      post: (message: Parameters<vscode.Webview['postMessage']>[0]) => view.webview.postMessage(message),
    };
    this.feed = new PanelFeed(
      this.hub,
      this.board,
      () => this.driverNow(),
      page,
      (error) => this.report(error),
    );
    this.driver.start();
    this.feed.hydrate();
  }

  private driverNow(): { view: DriverView; reading: DriverReading | null } {
    const reading = this.driver.newest;
    return { view: { state: reading?.driver.state ?? 'unknown', lookedFor: this.lookedFor }, reading };
  }

  private report(error: unknown): void {
    this.log.error(error instanceof Error ? error : String(error));
    const sentence = vscode.l10n.t(
      'GPU Memory could not do that: {0}',
      error instanceof Error ? error.message : String(error),
    );
    void vscode.window.showErrorMessage(sentence);
  }
}

function translated(): PanelStrings {
  const pairs = Object.entries(panelStrings).map(([key, text]) => [key, vscode.l10n.t(text)]);
  return Object.fromEntries(pairs) as PanelStrings;
}
