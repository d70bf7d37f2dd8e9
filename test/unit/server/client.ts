import { PassThrough } from 'node:stream';
import {
  createConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type Diagnostic,
} from 'vscode-languageserver/node';
import {
  createProtocolConnection,
  PublishDiagnosticsNotification,
  type ProtocolConnection,
} from 'vscode-languageserver-protocol/node';
import { vi } from 'vitest';
import { AnalysisServer } from '../../../src/server/analysisServer';
import { testParser } from '../analysis/testParser';

/** A language server in this process, and a client that remembers the diagnostics it is sent. */
export class Client {
  readonly diagnostics = new Map<string, Diagnostic[]>();
  readonly server: AnalysisServer;
  readonly connection: ProtocolConnection;

  constructor() {
    const [toServer, toClient] = [new PassThrough(), new PassThrough()];
    const serverSide = createConnection(new StreamMessageReader(toServer), new StreamMessageWriter(toClient));
    this.server = new AnalysisServer(
      serverSide,
      testParser,
      ({ text, values }) => values.reduce((all, value, at) => all.replaceAll(`{${at}}`, value), text),
      () => false,
    );
    serverSide.onCodeAction((params) => this.server.codeActions(params));
    this.server.sources.listen(serverSide);
    serverSide.listen();
    this.connection = createProtocolConnection(new StreamMessageReader(toClient), new StreamMessageWriter(toServer));
    this.connection.onNotification(PublishDiagnosticsNotification.type, ({ uri, diagnostics }) => {
      this.diagnostics.set(uri, diagnostics);
    });
    this.connection.listen();
  }

  /** Waits until the rules found in a document are these. */
  async finds(uri: string, rules: readonly string[]): Promise<void> {
    await vi.waitFor(
      () => {
        const found = this.diagnostics.get(uri)?.map(({ code }) => String(code));
        if (JSON.stringify(found) !== JSON.stringify(rules)) throw new Error(`${uri}: ${JSON.stringify(found)}`);
      },
      { timeout: 10_000, interval: 20 },
    );
  }

  close(): void {
    this.connection.dispose();
  }
}
