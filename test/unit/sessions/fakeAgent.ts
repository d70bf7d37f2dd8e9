import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node';
import type { HelloResult, Sample } from '../../../src/shared/agentProtocol';
import { readProcess } from '../../../src/sessions/processTable';
import { readHere } from '../../../src/sessions/socketName';

export const exampleSample: Sample = {
  timeMs: 1_700_000_000_000,
  device: 0,
  usedBytes: 1000,
  reservedBytes: 4096,
  activeBytes: 1100,
  strandedBytes: 500,
  releasableBytes: 2496,
  pendingBytes: 100,
  requestedBytes: 900,
  peakUsedBytes: 2000,
  peakReservedBytes: 4096,
  retries: 0,
  ooms: 0,
};

export function exampleHello(changes: Partial<HelloResult> = {}): HelloResult {
  return {
    protocol: 1,
    agent: '0.1.0',
    pid: process.pid,
    script: 'train.py',
    cwd: '/work',
    startTimeMs: 1_700_000_000_000,
    python: '3.11.2',
    torch: '2.13.0',
    simulated: 'exact',
    rank: null,
    worldSize: null,
    devices: [{ index: 0, uuid: 'SIM-0', name: 'Simulated GPU', totalBytes: 10_000 }],
    state: 'training',
    step: 7,
    ...changes,
  };
}

/** A private socket folder that is removed by `remove`. */
export function socketFolder(): { path: string; remove(): void } {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'vl-'));
  chmodSync(folder, 0o700);
  return { path: folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The name a socket of process `pid` has here and now. */
export function socketName(pid: number): string {
  const here = readHere();
  return `${here.host}-${here.boot}-${here.pidNamespace}-${pid}-${readProcess(pid)?.start ?? '0'}.sock`;
}

/** Speaks the agent's side of the protocol over a real unix socket. */
export class FakeAgent {
  readonly requests: { method: string; params: unknown }[] = [];
  private readonly connections = new Set<{ rpc: MessageConnection; socket: net.Socket }>();
  private readonly server: net.Server;

  private constructor(
    private readonly answers: Record<string, unknown>,
    readonly path: string,
  ) {
    this.server = net.createServer((socket) => {
      const rpc = createMessageConnection(new StreamMessageReader(socket), new StreamMessageWriter(socket));
      const connection = { rpc, socket };
      this.connections.add(connection);
      socket.on('error', () => undefined);
      socket.on('close', () => this.connections.delete(connection));
      rpc.onRequest((method, params) => {
        this.requests.push({ method, params });
        return this.answers[method] ?? {};
      });
      rpc.listen();
    });
  }

  /** @param answers results by method; `hello` and `subscribe` have usable defaults. */
  static async listen(
    folder: string,
    answers: Record<string, unknown> = {},
    name = socketName(process.pid),
  ): Promise<FakeAgent> {
    const all = { hello: exampleHello(), subscribe: { hz: 10 }, ...answers };
    const agent = new FakeAgent(all, path.join(folder, name));
    writeFileSync(agent.path.replace(/\.sock$/, '.token'), 'secret\n', { mode: 0o600 });
    await new Promise<void>((resolve) => agent.server.listen(agent.path, resolve));
    return agent;
  }

  get clients(): number {
    return this.connections.size;
  }

  async notify(method: string, params: unknown): Promise<void> {
    for (const { rpc } of this.connections) await rpc.sendNotification(method, params);
  }

  /** Drops every client but goes on listening. */
  disconnect(): void {
    for (const { socket } of this.connections) socket.destroy();
  }

  async close(): Promise<void> {
    this.disconnect();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}
