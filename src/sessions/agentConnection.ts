import { readFile } from 'node:fs/promises';
import net from 'node:net';
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node';
import {
  protocolVersion,
  type FreeCacheResult,
  type HelloResult,
  type Lifecycle,
  type Sample,
  type Step,
} from '../shared/agentProtocol';
import { isFreeCacheResult, isHelloResult, isLifecycle, isSample, isStep } from './guards';
import type { SocketEntry } from './socketFolders';

/** A training process can hold the GIL for seconds (a long kernel launch, an import): ask patiently. */
const answerTimeoutMs = 10_000;
/** The next optimizer step may take minutes with gradient accumulation. */
const freeCacheTimeoutMs = 120_000;

/** The agent said something that is not in the protocol. It will do so again: no second try. */
export class ProtocolError extends Error {}

export interface AgentListener {
  sample(sample: Sample): void;
  step(step: Step): void;
  lifecycle(lifecycle: Lifecycle): void;
  /** A notification that did not pass its check and was dropped. */
  malformed(method: string): void;
  closed(): void;
}

/** One connection to one agent. `open` returns when the agent answered `hello` and `subscribe`. */
export class AgentConnection {
  private constructor(
    private readonly entry: SocketEntry,
    private readonly socket: net.Socket,
    private readonly connection: MessageConnection,
    readonly hello: HelloResult,
  ) {}

  /**
   * @param hz samples per second wanted, 0.2 to 10.
   * @throws ProtocolError when the answer is not one of our agent's; the socket's own error when nobody listens.
   */
  static async open(entry: SocketEntry, client: string, hz: number, listener: AgentListener): Promise<AgentConnection> {
    const socket = await connect(entry.path);
    const connection = createMessageConnection(new StreamMessageReader(socket), new StreamMessageWriter(socket));
    const forward = <T>(method: string, isRight: (value: unknown) => value is T, handle: (value: T) => void): void => {
      connection.onNotification(method, (value: unknown) =>
        isRight(value) ? handle(value) : listener.malformed(method),
      );
    };
    forward('sample', isSample, (sample) => listener.sample(sample));
    forward('step', isStep, (step) => listener.step(step));
    forward('lifecycle', isLifecycle, (lifecycle) => listener.lifecycle(lifecycle));
    // A broken frame is reported here; the close that follows is what counts.
    connection.onError(() => socket.destroy());
    connection.listen();
    try {
      const hello: unknown = await answer(
        connection.sendRequest('hello', { protocol: protocolVersion, client }),
        socket,
      );
      if (!isHelloResult(hello)) throw new ProtocolError('its greeting is not one of our agent');
      if (hello.protocol !== protocolVersion) {
        throw new ProtocolError(`it speaks protocol ${hello.protocol}, this version speaks ${protocolVersion}`);
      }
      await answer(connection.sendRequest('subscribe', { hz }), socket);
      socket.once('close', () => {
        connection.dispose();
        listener.closed();
      });
      if (socket.destroyed) throw new Error('the session closed its socket');
      return new AgentConnection(entry, socket, connection, hello);
    } catch (error) {
      socket.destroy();
      connection.dispose();
      throw error;
    }
  }

  /** Asks for `freeCache`; waits for the session's next safe point. Answers "noAnswer" when none came in two minutes. */
  async freeCache(): Promise<FreeCacheResult> {
    try {
      const token = (await readFile(this.entry.tokenPath, 'utf8')).trim();
      const result: unknown = await answer(
        this.connection.sendRequest('freeCache', { token }),
        this.socket,
        freeCacheTimeoutMs,
      );
      if (isFreeCacheResult(result)) return result;
      return { done: false, reason: 'failed', message: 'The answer is not one of our agent.' };
    } catch (error) {
      const reason = error instanceof AnswerTimeout ? 'noAnswer' : 'failed';
      return { done: false, reason, message: error instanceof Error ? error.message : String(error) };
    }
  }

  close(): void {
    this.socket.destroy();
  }
}

class AnswerTimeout extends Error {
  constructor() {
    super('The session did not answer in time.');
  }
}

function connect(path: string): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(path);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      // After this the `close` event tells what matters.
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}

/** `promise`, or a rejection when the socket closes or the time is over: vscode-jsonrpc itself waits for ever. */
function answer<T>(promise: Promise<T>, socket: net.Socket, timeoutMs = answerTimeoutMs): Promise<T> {
  return new Promise((resolve, reject) => {
    const closed = (): void => finish(() => reject(new Error('The session closed its socket.')));
    const timer = setTimeout(() => finish(() => reject(new AnswerTimeout())), timeoutMs);
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      socket.off('close', closed);
      settle();
    };
    socket.once('close', closed);
    promise.then(
      (value) => finish(() => resolve(value)),
      (error: unknown) => finish(() => reject(error instanceof Error ? error : new Error(String(error)))),
    );
  });
}
