import * as vscode from 'vscode';
import { ProbeClient } from '../probe/probeClient';
import { DeviceBoard } from '../sessions/deviceBoard';
import { SessionHub } from '../sessions/sessionHub';
import { settingKeys } from '../shared/manifest';
import { freeGpuCache } from './freeCacheCommand';
import { PanelView } from './panel/panelView';

/** What the first visible panel or the first command needs; loaded then, not at activation. */
export class Services {
  readonly hub: SessionHub;
  readonly panel: PanelView;
  private readonly board: DeviceBoard;

  constructor(context: vscode.ExtensionContext, log: vscode.LogOutputChannel) {
    const { version } = context.extension.packageJSON as { version: string };
    this.hub = new SessionHub({
      client: `vscode/${version}`,
      hz: vscode.workspace.getConfiguration().get<number>(settingKeys.samplesPerSecond, 10),
      log: (message) => log.warn(message),
    });
    this.board = new DeviceBoard(this.hub);
    const assets = vscode.Uri.joinPath(context.extensionUri, 'dist', 'webview');
    const script = vscode.Uri.joinPath(context.extensionUri, 'dist', 'probe.js').fsPath;
    const probe = new ProbeClient(script, (message) => log.warn(message));
    this.panel = new PanelView(assets, this.hub, this.board, probe, log);
    context.subscriptions.push(this.board, { dispose: () => probe.close() });
  }

  freeGpuCache(): Promise<void> {
    return freeGpuCache(this.hub);
  }
}
