import * as vscode from 'vscode';
import { lookForDriver } from '../../probe/driverPresence';
import type { DeviceBoard } from '../../sessions/deviceBoard';
import type { SessionHub } from '../../sessions/sessionHub';
import { commandIds } from '../../shared/manifest';
import { isFromPanel, type DriverView, type FromPanel } from '../../shared/panelProtocol';
import { panelStrings, type PanelStrings } from '../../shared/panelStrings';
import { freeSession } from '../freeCacheCommand';
import { pageHtml } from './pageHtml';
import { PanelFeed } from './panelFeed';

/** The webview view "GPU Memory": a page while it is visible, nothing while it is not. */
export class PanelView {
  private feed: PanelFeed | null = null;
  private driver: DriverView = { state: 'unknown', lookedFor: [] };

  constructor(
    private readonly assets: vscode.Uri,
    private readonly hub: SessionHub,
    private readonly board: DeviceBoard,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  async resolve(view: vscode.WebviewView): Promise<void> {
    view.webview.options = { enableScripts: true, localResourceRoots: [this.assets] };
    this.driver = await lookForDriver();
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
        this.driver = await lookForDriver();
        this.feed?.touch();
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
      () => this.driver,
      page,
      (error) => this.report(error),
    );
    this.feed.hydrate();
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
